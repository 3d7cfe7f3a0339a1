"""Suffixes of an opcode, taken one by one.

Ref: PTX ISA 9.0, Sections 9.7.9.8 (ld), 9.7.9.11 (st) and 9.7.13.5 (atom).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from racetrap.golden_model.ptx_memory_model.events import Order
from racetrap.golden_model.ptx_memory_model.litmus.instructions import Access, DataType
from racetrap.golden_model.ptx_memory_model.scopes import Scope

_SCOPES = {scope.name.lower(): scope for scope in Scope}
_TYPE = re.compile("[bus](8|16|32|64)")
_SPACES = ("global", "shared", "shared::cta", "shared::cluster")


class Modifiers:
    """Suffixes of an instruction's name, in any order.

    Parameters
    ----------
    opcode : str
        The whole opcode, for messages.
    suffixes : iterable of str
        Its parts after the name.
    """

    def __init__(self, opcode: str, suffixes: Iterable[str]) -> None:
        self._opcode = opcode
        self._left = list(suffixes)

    def take(self, *names: str) -> str:
        """The one of ``names`` that is present, or an empty string."""
        for name in names:
            if name in self._left:
                self._left.remove(name)
                return name
        return ""

    def scope(self) -> Scope | None:
        """The scope, if there is one."""
        name = self.take(*_SCOPES)
        return _SCOPES[name] if name else None

    def order(self, allowed: Iterable[Order], default: Order) -> Order:
        """The ordering semantics."""
        name = self.take(*(order.value for order in allowed))
        return Order(name) if name else default

    def data_type(self, names: Iterable[str], default: str = "u32") -> DataType:
        """The type.

        Raises
        ------
        ValueError
            If it is another.
        """
        names = tuple(names)
        found = self.take(*names)
        other = next((each for each in self._left if _TYPE.fullmatch(each)), "")
        if other and not found:
            allowed = ", ".join(f".{name}" for name in names)
            raise ValueError(f"Type of {self._opcode} must be one of {allowed}, not .{other}")
        return DataType(found or default)

    def access(self, allowed: Iterable[Order], default: Access) -> Access:
        """Order, scope and state space of a memory access."""
        space = self.take(*_SPACES).removesuffix("::cta")
        if self.take("volatile"):
            return Access(Order.RELAXED, Scope.SYS, True, space)
        order = self.order(allowed, default.order)
        scope = self.scope()
        if order is Order.WEAK and scope is not None:
            raise ValueError(f"Weak access {self._opcode} cannot have a scope")
        if order is not Order.WEAK and scope is None and default.scope is None:
            raise ValueError(
                f"Strong access {self._opcode} lacks a scope: add .cta, .cluster, .gpu or .sys"
            )
        strong = order is not Order.WEAK
        return Access(
            order, (scope or default.scope) if strong and scope is None else scope, False, space
        )

    def finish(self) -> None:
        """Raise ``ValueError`` if a suffix is left over."""
        if self._left:
            raise ValueError(f"Modifier .{self._left[0]} of {self._opcode} is not supported")
