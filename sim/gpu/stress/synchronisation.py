"""Synchronisation of a program by source line: its fences, its strong accesses, and the accesses
that a fence can be put before.  Loops are unrolled, so a line stands for several instructions.

Ref: PTX ISA 9.0, Sections 8.4 (Operation types) and 8.5 (Scope).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.ptx_memory_model.operational import Strength
from racetrap.sim.gpu.executor.codegen.access_modes import fence_mode
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.weak_memory import ORDERS, SCOPES
from racetrap.sim.gpu.ptx.module import Function, Instruction
from racetrap.sim.gpu.stress.subject import Changes

__all__ = ["Action", "StrongAccess", "Sync", "Synchronisation", "name_of"]

#: Order and scope of a fence or an access.
Sync = tuple[Order, Scope]

_STRONG = frozenset({"volatile", "relaxed", "acquire", "release"})
_PRIVATE = frozenset({"param", "local", "const"})
_SCOPES = {"cta": Scope.CTA, "cluster": Scope.CTA, "gpu": Scope.GPU, "sys": Scope.GPU}
_ORDERS = {
    "relaxed": Order.RELAXED, "acquire": Order.ACQUIRE, "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
}  # fmt: skip


class Action(NamedTuple):
    """What can be changed at a line.

    Parameters
    ----------
    name : str
        ``insert`` a fence before it, or change its ``fence`` or its strong ``access``.
    place : str
        The line.
    """

    name: str
    place: str


class StrongAccess(NamedTuple):
    """A strong access that is not volatile.

    Parameters
    ----------
    opcode : str
        ``ld``, ``st``, ``atom`` or ``red``.
    sync : (Order, Scope)
        How it synchronises.
    """

    opcode: str
    sync: Sync

    @property
    def orders(self) -> tuple[Order, ...]:
        """Orders that it could have beyond a relaxed one, the weakest first."""
        if self.opcode == "ld":
            return (Order.ACQUIRE,)
        if self.opcode == "atom":
            return Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL
        return (Order.RELEASE,)


def name_of(what: str, sync: Sync) -> str:
    """A fence or an access in PTX."""
    return f"{what}.{sync[0].value}.{sync[1].name.lower()}"


class Synchronisation:
    """Fences and accesses of some functions by line.

    Parameters
    ----------
    functions : iterable of Function
        The functions.

    Attributes
    ----------
    fences : dict of str to dict of int to (Order, Scope)
        Fences by line and program counter.
    accesses : dict of str to dict of int to StrongAccess
        Strong accesses that are not volatile, likewise.
    before : dict of str to list of int
        Accesses that a fence before the line comes before: those that follow an access of another
        line.
    behind : dict of str to set of str
        Lines of the accesses that come next behind the fences of a line.
    """

    def __init__(self, functions: Iterable[Function]) -> None:
        self.fences: dict[str, dict[int, Sync]] = {}
        self.accesses: dict[str, dict[int, StrongAccess]] = {}
        self.before: dict[str, list[int]] = {}
        self.behind: dict[str, set[str]] = {}
        #: Lines of fences since the latest access.
        self._fenced: list[str] = []
        #: Lines with strong accesses, and those of accesses that come next behind one.
        self._strong: set[str] = set()
        self._behind_strong: set[str] = set()
        for function in functions:
            latest = ""
            self._fenced.clear()
            for instruction in function.instructions:
                latest = self._add(instruction, latest)

    def _add(self, instruction: Instruction, latest: str) -> str:
        """Take in an instruction behind an access of a line; the line of the latest access."""
        place = str(instruction.location or f"line {instruction.line}")
        pc, opcode = event_pc(instruction.index), instruction.opcode
        spaces = {name.partition("::")[0] for name in instruction.modifiers}
        if opcode in ("membar", "fence"):
            scope, order = fence_mode(instruction)
            own = ORDERS.get(order, Order.SC), SCOPES[scope]
            self.fences.setdefault(place, {})[pc] = own
            self._fenced.append(place)
        elif opcode in ("ld", "st", "atom", "red") and not _PRIVATE & spaces:
            for fence in self._fenced:
                self.behind.setdefault(fence, set()).add(place)
            self._fenced.clear()
            if place != latest:
                self.before.setdefault(place, []).append(pc)
                if latest in self._strong:
                    self._behind_strong.add(place)
            if opcode in ("atom", "red") or _STRONG & set(instruction.modifiers):
                self._strong.add(place)
            named = [_ORDERS[name] for name in instruction.modifiers if name in _ORDERS]
            if named or opcode in ("atom", "red"):
                scopes = [_SCOPES[name] for name in instruction.modifiers if name in _SCOPES]
                own = (*named, Order.RELAXED)[0], (*scopes, Scope.GPU)[0]
                self.accesses.setdefault(place, {})[pc] = StrongAccess(opcode, own)
            return place
        return latest

    def slots(self) -> list[str]:
        """Lines that a fence can be put before, those of least use first: fences belong before a
        strong write, or behind a strong read, and there the sooner the better."""
        behind = self._behind_strong
        elsewhere = [place for place in self.before if place not in behind]
        return [
            *sorted(elsewhere, key=self._strong.__contains__),
            *(place for place in reversed(self.before) if place in behind),
        ]

    def changes(self, chosen: Mapping[Action, Sync | None]) -> Changes:
        """The program with some changes; ``None`` leaves a fence out."""
        fences: dict[int, Sync | None] = {}
        inserted: dict[int, Sync] = {}
        accesses: dict[int, Strength] = {}
        for (name, place), sync in chosen.items():
            if name == "fence":
                fences.update(dict.fromkeys(self.fences[place], sync))
            elif sync is not None and name == "insert":
                inserted.update(dict.fromkeys(self.before[place], sync))
            elif sync is not None:
                for pc, access in self.accesses[place].items():
                    has = sync[0] in (Order.RELAXED, *access.orders)
                    accesses[pc] = Strength(sync[0] if has else access.orders[-1], sync[1])
        return Changes(fences, inserted, accesses)
