"""Synchronisation of a program by source line: its fences, its strong accesses, and the accesses
that a fence can be put before.  Loops are unrolled, so a line stands for several instructions.

Ref: PTX ISA 9.0, Sections 8.4 (Operation types) and 8.5 (Scope).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.ptx_memory_model.operational import Strength
from racetrap.sim.gpu.executor.codegen.access_modes import fence_mode
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.weak_memory import ORDERS, SCOPES
from racetrap.sim.gpu.ptx.control_flow import successors
from racetrap.sim.gpu.ptx.module import Function, Instruction
from racetrap.sim.gpu.stress.subject import Changes

#: Order and scope of a fence or an access.
Sync = tuple[Order, Scope]

_STRONG = frozenset({"volatile", "relaxed", "acquire", "release"})
_PRIVATE = frozenset({"param", "local", "const"})
_SCOPES = {
    "cta": Scope.CTA, "cluster": Scope.CLUSTER, "gpu": Scope.GPU, "sys": Scope.GPU,
}  # fmt: skip
_ORDERS = {
    "relaxed": Order.RELAXED, "acquire": Order.ACQUIRE, "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
}  # fmt: skip


class Action(NamedTuple):
    """A change that can be made at a line.

    Parameters
    ----------
    name : str
        ``insert`` a fence before it, or ``insert_after``, or change its ``fence`` or its strong
        ``access``.
    place : str
        The line.
    """

    name: str
    place: str


#: Synchronisation to put at places; ``None`` where a fence is left out.
Chosen = Mapping[Action, Sync | None]


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


def _place(instruction: Instruction) -> str:
    location = instruction.location
    return location.own if location else f"line {instruction.line}"


def _is_access(instruction: Instruction) -> bool:
    spaces = {name.partition("::")[0] for name in instruction.modifiers}
    return instruction.opcode in ("ld", "st", "atom", "red") and not _PRIVATE & spaces


def _fence_sync(instruction: Instruction) -> Sync:
    scope, order = fence_mode(instruction)
    return ORDERS.get(order, Order.SC), SCOPES[scope]


def _access_sync(instruction: Instruction) -> Sync | None:
    """How a strong access that is not volatile synchronises; ``None`` for others."""
    named = [_ORDERS[name] for name in instruction.modifiers if name in _ORDERS]
    if not named and instruction.opcode not in ("atom", "red"):
        return None
    scopes = [_SCOPES[name] for name in instruction.modifiers if name in _SCOPES]
    return (*named, Order.RELAXED)[0], (*scopes, Scope.GPU)[0]


def _next_accesses(function: Function, index: int) -> set[int]:
    """Accesses that may come next behind an instruction, or from the beginning (-1)."""
    seen, found = set[int](), set[int]()
    left = [*successors(function, index)] if index >= 0 else [0]
    while left:
        following = left.pop()
        if following in seen or following >= len(function.instructions):
            continue
        seen.add(following)
        if _is_access(function.instructions[following]):
            found.add(following)
        else:
            left += successors(function, following)
    return found


def _width(sync: Sync) -> tuple[Scope, bool]:
    return sync[1], sync[0] is Order.SC


class Synchronisation:
    """Fences and accesses of some functions by line.

    Parameters
    ----------
    functions : iterable of Function
        The functions.
    executed : collection of int, optional
        Program counters of the accesses and fences that ran, by default all. Of a function in which
        none ran, only ``unexecuted`` is kept.

    Attributes
    ----------
    fences : dict of str to dict of int to (Order, Scope)
        Fences by line and program counter.
    accesses : dict of str to dict of int to StrongAccess
        Strong accesses that are not volatile, likewise.
    before : dict of str to list of int
        Accesses that a fence before the line comes before: those that may follow an access of
        another line.
    after : dict of str to list of int
        Accesses of other lines that may come next after strong reads of the line, if they are of
        several lines and come next after no other line; likewise.
    behind : dict of str to set of str
        Lines of the accesses that may come next behind the fences of a line, or behind its
        accesses.
    unexecuted : dict of str to str
        Lines with a fence, or an access with an order, that did not run everywhere (a line of an
        inlined function or an unrolled loop is several), with what it is.
    """

    def __init__(
        self, functions: Iterable[Function], executed: Collection[int] | None = None
    ) -> None:
        self.unexecuted: dict[str, str] = {}
        self.fences: dict[str, dict[int, Sync]] = {}
        self.accesses: dict[str, dict[int, StrongAccess]] = {}
        self.before: dict[str, list[int]] = {}
        self.after: dict[str, list[int]] = {}
        self.behind: dict[str, set[str]] = {}
        #: Lines with strong reads, in their order, and with strong writes.
        self._reads: dict[str, None] = {}
        self._writes: set[str] = set()
        #: Other lines whose accesses each may come next after, by program counter.
        self._latest: dict[int, set[str]] = {}
        for function in functions:
            if executed is not None:
                self._add_unexecuted(function, executed)
                if not any(event_pc(each.index) in executed for each in function.instructions):
                    continue
            self._add(function)
        for place in [place for place in self.after if not self._has_after(place)]:
            del self.after[place]

    def _has_after(self, place: str) -> bool:
        """Whether a fence after a line is one before each of several next lines, and nothing
        else."""
        alone = all(self._latest[pc] == {place} for pc in self.after[place])
        return alone and len(self.following(place)) > 1

    def _add_unexecuted(self, function: Function, executed: Collection[int]) -> None:
        """Note what of a function did not run."""
        for instruction in function.instructions:
            if event_pc(instruction.index) in executed:
                continue
            if instruction.opcode in ("membar", "fence"):
                self.unexecuted[_place(instruction)] = name_of("fence", _fence_sync(instruction))
            elif _is_access(instruction):
                opcode, sync = instruction.opcode, _access_sync(instruction)
                if sync is not None and sync[0] is not Order.RELAXED:
                    self.unexecuted[_place(instruction)] = name_of(opcode, sync)

    def _add(self, function: Function) -> None:
        """Add a function."""
        latest: dict[int, set[str]] = {}
        for following in _next_accesses(function, -1):
            latest.setdefault(following, set()).add("")
        for index, instruction in enumerate(function.instructions):
            place = _place(instruction)
            if is_fence := instruction.opcode in ("membar", "fence"):
                own = _fence_sync(instruction)
                self.fences.setdefault(place, {})[event_pc(instruction.index)] = own
            elif _is_access(instruction):
                self._add_access(instruction, place)
            else:
                continue
            for following in _next_accesses(function, index):
                access = function.instructions[following]
                self.behind.setdefault(place, set()).add(_place(access))
                if not is_fence and _place(access) != place:
                    latest.setdefault(following, set()).add(place)
                    if place in self._reads:
                        self.after.setdefault(place, []).append(event_pc(access.index))
        for index in sorted(latest):
            access = function.instructions[index]
            self._latest[event_pc(access.index)] = latest[index]
            self.before.setdefault(_place(access), []).append(event_pc(access.index))

    def _add_access(self, instruction: Instruction, place: str) -> None:
        opcode, pc = instruction.opcode, event_pc(instruction.index)
        if opcode in ("atom", "red") or _STRONG & set(instruction.modifiers):
            if opcode in ("ld", "atom"):
                self._reads[place] = None
            if opcode != "ld":
                self._writes.add(place)
        own = _access_sync(instruction)
        if own is not None:
            self.accesses.setdefault(place, {})[pc] = StrongAccess(opcode, own)

    def slots(self) -> list[Action]:
        """Where a fence can be put, places of least use first: fences belong before a strong
        write, or next behind a strong read and nothing else, and there the sooner the better."""
        after = [Action("insert_after", place) for place in self._reads if place in self.after]
        next_line = [
            Action("insert", place)
            for read in self._reads if read not in self.after
            for place in sorted(self.following(read))
            if len(self.following(read)) == 1 or self._comes_after_reads(place)
        ]  # fmt: skip
        behind = dict.fromkeys([*reversed(after), *reversed(next_line)])
        before = [
            Action("insert", place) for place in sorted(self.before, key=self._writes.__contains__)
        ]
        return [*(slot for slot in before if slot not in behind), *behind]

    def _comes_after_reads(self, place: str) -> bool:
        """Whether accesses of a line come next after strong reads of other lines alone."""
        return all(self._latest[pc] <= self._reads.keys() for pc in self.before[place])

    def following(self, place: str) -> set[str]:
        """Other lines that may come next behind the accesses of a line."""
        return self.behind.get(place, set()) - {place}

    def changes(self, chosen: Chosen) -> Changes:
        """The program with some changes; ``None`` leaves a fence out."""
        fences: dict[int, Sync | None] = {}
        inserted: dict[int, Sync] = {}
        accesses: dict[int, Strength] = {}
        for (name, place), sync in chosen.items():
            if name == "fence":
                fences.update(dict.fromkeys(self.fences[place], sync))
            elif sync is not None and name in ("insert", "insert_after"):
                for pc in (self.before if name == "insert" else self.after)[place]:
                    inserted[pc] = max(sync, inserted.get(pc, sync), key=_width)
            elif sync is not None:
                for pc, access in self.accesses[place].items():
                    has = sync[0] in (Order.RELAXED, *access.orders)
                    accesses[pc] = Strength(sync[0] if has else access.orders[-1], sync[1])
        return Changes(fences, inserted, accesses)
