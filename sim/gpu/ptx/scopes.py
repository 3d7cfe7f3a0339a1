"""Scopes of names in a function: registers, variables, labels and tables.

Ref: PTX ISA 9.0, Sections 4.4 (identifiers) and 10 (special registers).
"""

from __future__ import annotations

from collections.abc import Mapping

from lark import Token

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import CallTarget, Immediate, Operand, Register, Special, Symbol

#: Special registers that a PTX text may name.
SPECIAL_REGISTERS = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%lanemask_eq",
    "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi",
    "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%total_smem_size",
    "%dynamic_smem_size", "%envreg1", "%envreg2",
    *(f"%{name}.{axis}"
      for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for axis in "xyz"),
    "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
)  # fmt: skip

#: Names that mean the same everywhere.
_FIXED: Mapping[str, Operand] = {
    **{name: Special(name) for name in SPECIAL_REGISTERS},
    "WARP_SZ": Immediate(32),
    "_": Register("_", "b64"),
}


class Scope:
    """Names between two braces, and those around them.

    Parameters
    ----------
    module : str
        Name of the PTX file, for messages.
    parent : Scope, optional
        The scope around this one; none for the module.
    """

    def __init__(self, module: str, parent: Scope | None = None):
        self._module = module
        self._parent = parent
        self._operands: dict[str, Operand] = {}
        self._labels: dict[str, int] = {}
        self._tables: dict[str, tuple[Token, ...]] = {}

    def fail(self, token: Token, sentence: str) -> PtxError:
        """The error ``sentence`` at the line of ``token``."""
        return PtxError(self._module, token.line or 0, sentence)

    def _find(self, table: str, name: str):
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, table).get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def names(self) -> set[str]:
        """Names of registers, variables and functions declared so far, without outer scopes."""
        return set(self._operands)

    def define(self, name: str, token: Token, operand: Operand) -> None:
        """Let ``name``, declared at ``token``, mean ``operand`` here."""
        if name in self._operands:
            raise self.fail(token, f"Name {token} is declared twice in its scope")
        self._operands[name] = operand

    def define_global(self, name: str, operand: Symbol | CallTarget) -> None:
        """Let ``name`` be a variable or function of the module, which may be declared again."""
        self._operands[name] = operand

    def define_label(self, token: Token, index: int) -> None:
        """Let a label name instruction ``index`` of the function."""
        if token in self._labels:
            raise self.fail(token, f"Label {token} is defined twice in its scope")
        self._labels[str(token)] = index

    def define_table(self, label: Token, names: tuple[Token, ...]) -> None:
        """Let a label name the targets of a ``brx.idx``."""
        self._tables[str(label)] = names

    def operand(self, token: Token) -> Operand:
        """Meaning of a name; ``PtxError`` if it has none."""
        found = self._find("_operands", token) or _FIXED.get(token)
        if found is None:
            what = "Register" if token.startswith("%") else "Name"
            raise self.fail(token, f"{what} {token} is not declared")
        return found

    def predicate(self, token: Token) -> Register:
        """The predicate register called ``token``."""
        found = self.operand(token)
        if not isinstance(found, Register) or found.type != "pred":
            raise self.fail(token, f"Predicate must be a register of type .pred, not {token}")
        return found

    def label(self, token: Token) -> int:
        """Index of the instruction that a label names."""
        found = self._find("_labels", token)
        if found is None:
            raise self.fail(token, f"Branch target must be a label of the function, not {token}")
        return found

    def table(self, token: Token) -> tuple[Token, ...]:
        """Targets that a label names."""
        found = self._find("_tables", token)
        if found is None:
            raise self.fail(token, f"Branch table must be .branchtargets, not {token}")
        return found
