"""Sites of instrumented code: what the instructions that log do.

Ref: BARRACUDA (PLDI'17) Section 4.1 (what is instrumented); PTX ISA 9.0, Sections 9.7.9 and 9.7.13.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.codegen.access_modes import access_mode, alone
from racetrap.sim.gpu.executor.machine.access import AccessMode
from racetrap.sim.gpu.executor.machine.atomics import ATOMIC_OPERATIONS
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import Function, Instruction, Register

_ATOMICS = ("atom", "red")
_ACCESSES = ("ld", "ldu", "st", *_ATOMICS)
#: What accesses memory in a way that no record can hold, with the parts of its name that do.
_NOT_LOGGED = {
    "cp": "", "mbarrier": "", "ldmatrix": "", "stmatrix": "", "wmma": "load store",
    "multimem": "", "tex": "", "suld": "", "sust": "", "sured": "",
}  # fmt: skip
#: A CAS must say whether it has stored.
_SINK = Register("_", "b64")


class SiteKind(Enum):
    """What a record is of."""

    ACCESS = auto()
    FENCE = auto()
    BARRIER = auto()
    WARP_BARRIER = auto()
    EXIT = auto()
    SHARED_VARIABLE = auto()


class LogSite(NamedTuple):
    """What a record of instrumented code says that has this site's number.

    Parameters
    ----------
    kind : SiteKind
        What it is of.
    instruction : Instruction, optional
        The instruction that logs; ``None`` for the end of a kernel, and for a variable.
    mode : AccessMode, optional
        How an access is made.
    variable : str
        Name of a shared variable, whose address is logged.
    """

    kind: SiteKind
    instruction: Instruction | None = None
    mode: AccessMode | None = None
    variable: str = ""

    @property
    def pc(self) -> int:
        """Program counter in traces; 0 for the end of a kernel."""
        return event_pc(self.instruction.index) if self.instruction else 0

    @property
    def is_brief(self) -> bool:
        """Whether its records tell nothing of each lane."""
        return self.kind not in (SiteKind.ACCESS, SiteKind.WARP_BARRIER)


def site_of(instruction: Instruction, function: Function) -> LogSite | None:
    """Site of an instruction; ``None`` if it is not logged.

    Raises
    ------
    UnknownInstruction
        If it accesses memory in a way that cannot be logged.
    """
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode in _ACCESSES:
        mode = access_mode(instruction, ATOMIC_OPERATIONS if opcode in _ATOMICS else ())
        mode = mode._replace(scope=alone(mode.scope))
        if mode.space in ("local", "param", "const"):
            return None
        is_thrown_away = mode.operation == "cas" and instruction.operands[0] == _SINK
        is_elsewhere = mode.space == "shared::cluster"
        if mode.type.bits * mode.elements > 128 or is_thrown_away or is_elsewhere:
            raise _not_logged(instruction)
        return LogSite(SiteKind.ACCESS, instruction, mode)
    if opcode in ("membar", "fence"):
        return LogSite(SiteKind.FENCE, instruction)
    if opcode in ("bar", "barrier"):
        if "cluster" in modifiers:
            raise _not_logged(instruction)
        is_warp = "warp" in modifiers
        return LogSite(SiteKind.WARP_BARRIER if is_warp else SiteKind.BARRIER, instruction)
    if opcode == "exit" or (opcode == "ret" and function.is_kernel):
        return LogSite(SiteKind.EXIT, instruction)
    words = _NOT_LOGGED.get(opcode)
    if words is not None and (not words or set(words.split()) & set(modifiers)):
        raise _not_logged(instruction)
    return None


def _not_logged(instruction: Instruction) -> UnknownInstruction:
    return UnknownInstruction(
        f"Instruction {instruction.name} cannot be logged on a GPU: run the program on the executor"
    )
