"""Advice: fences that a program lacks, and those that are redundant or wider than needed.

A set of fences is refuted by one failing run, and confirmed by none: what is said is that no run
of a search has refuted it.  Fences are put before accesses, line by line, since loops are unrolled.

Ref: Bugaroo Section III-D (root cause analysis), which puts them behind accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.sim.gpu.executor.codegen.access_modes import fence_mode
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.weak_memory import ORDERS, SCOPES
from racetrap.sim.gpu.ptx.module import Instruction
from racetrap.sim.gpu.stress.search import bounded_runs, random_runs
from racetrap.sim.gpu.stress.subject import Fences, Subject

__all__ = ["Advice", "Advisor", "FenceAdvice"]

_Fence = tuple[Order, Scope]
#: A fence for each action and line.
_Changes = dict[tuple[str, str], _Fence]
#: Fences tried, the narrowest first.
_TRIED: tuple[_Fence, ...] = (
    (Order.ACQ_REL, Scope.CTA), (Order.ACQ_REL, Scope.GPU), (Order.SC, Scope.GPU),
)  # fmt: skip
_PRIVATE = frozenset({"param", "local", "const"})


class FenceAdvice(NamedTuple):
    """What is said of one fence.

    Parameters
    ----------
    action : str
        ``insert``, ``widen``, ``remove`` or ``narrow``.
    place : str
        Line before which to insert, or of the fence.
    fence : str
        The fence in PTX.
    """

    action: str
    place: str
    fence: str


@dataclass(frozen=True)
class Advice:
    """What is said of a program.

    Parameters
    ----------
    fences : list of FenceAdvice
        What to change.
    cured : bool
        Whether with these no run has failed; if not, no fences help.
    runs : int
        Runs of the search that did not refute it.
    """

    fences: list[FenceAdvice]
    cured: bool
    runs: int


def _name(fence: _Fence) -> str:
    return f"fence.{fence[0].value}.{fence[1].name.lower()}"


class Advisor:
    """Makes advice for a subject.

    Parameters
    ----------
    subject : Subject
        The subject.
    memory : str
        Memory model.
    runs : int
        Random runs that must not fail.
    bounded : int
        Systematic runs, of up to two deviations, that must not fail.
    seed : int
        First seed.
    """

    def __init__(self, subject: Subject, memory: str, runs: int, bounded: int, seed: int) -> None:
        self._subject, self._memory, self._seed = subject, memory, seed
        self._runs, self._bounded = runs, bounded
        self._accesses: dict[str, list[int]] = {}
        self._fences: dict[str, dict[int, _Fence]] = {}
        self._lines(
            instruction
            for function in subject.module.functions.values()
            for instruction in function.instructions
        )
        #: Seeds that have refuted something, the latest first: they are tried first.
        self._refuters: list[int] = []

    def _lines(self, instructions: Iterable[Instruction]) -> None:
        """Fences by source line, and accesses that a fence before the line comes before: those that
        follow an access of another line."""
        latest = ""
        for instruction in instructions:
            place = str(instruction.location or f"line {instruction.line}")
            pc, opcode = event_pc(instruction.index), instruction.opcode
            spaces = {name.partition("::")[0] for name in instruction.modifiers}
            if opcode in ("membar", "fence"):
                scope, order = fence_mode(instruction)
                own = ORDERS.get(order, Order.SC), SCOPES[scope]
                self._fences.setdefault(place, {})[pc] = own
            elif opcode in ("ld", "st", "atom", "red") and not _PRIVATE & spaces:
                if place != latest:
                    self._accesses.setdefault(place, []).append(pc)
                latest = place

    # The search

    def _fails(self, fences: Fences) -> bool:
        """Whether a run refutes a choice of fences."""
        for seed in self._refuters:
            if next(random_runs(self._subject, self._memory, seed, 1.0, fences)).failure:
                return True
        runs = random_runs(self._subject, self._memory, self._seed, 1.0, fences)
        for number, run in enumerate(islice(runs, self._runs)):
            if run.failure:
                self._refuters.insert(0, self._seed + number)
                return True
        bounded = bounded_runs(self._subject, self._memory, 2, fences)
        return any(run.failure for run in islice(bounded, self._bounded))

    def _changes(self, chosen: _Changes) -> Fences:
        """Fences of the program with changes."""
        changed: dict[int, _Fence | None] = {}
        inserted: dict[int, _Fence] = {}
        for (action, place), fence in chosen.items():
            if action == "insert":
                inserted.update(dict.fromkeys(self._accesses[place], fence))
            else:
                changed.update(dict.fromkeys(self._fences[place], fence))
        return Fences(changed, inserted)

    def advise(self) -> Advice:
        """Advice on the program as it stands."""
        total = self._runs + self._bounded
        if not self._fails(Fences()):
            return Advice(list(self._excess()), True, total)
        missing = self._missing()
        if missing is None:
            return Advice([], False, total)
        found = [FenceAdvice(*what, _name(fence)) for what, fence in missing.items()]
        return Advice(found, True, total)

    def _missing(self) -> _Changes | None:
        """The fewest and narrowest fences that are not refuted: existing ones made wider, if that
        will do, or others before lines."""
        wider = {("widen", place): _TRIED[1] for place in self._fences}
        for fence in _TRIED[1:]:
            inserted = {("insert", place): fence for place in self._accesses}
            for chosen in (dict.fromkeys(wider, fence), inserted):
                if chosen and not self._fails(self._changes(chosen)):
                    return self._narrowest(self._fewest(chosen))
        return None

    def _narrowest(self, chosen: _Changes) -> _Changes:
        for what in list(chosen):
            for narrower in _TRIED:
                if narrower == chosen[what]:
                    break
                if not self._fails(self._changes({**chosen, what: narrower})):
                    chosen[what] = narrower
                    break
        return chosen

    def _fewest(self, chosen: _Changes) -> _Changes:
        """Leave changes out, many at once as long as that goes."""
        size = -(-len(chosen) // 2)
        while size:
            changes, start = list(chosen), 0
            while start < len(changes):
                part = changes[start : start + size]
                rest = {what: fence for what, fence in chosen.items() if what not in part}
                if not self._fails(self._changes(rest)):
                    chosen = rest
                start += size
            size = size // 2
        return chosen

    def _excess(self) -> Iterator[FenceAdvice]:
        """Fences that no run needs, or not as wide."""
        changed: dict[int, _Fence | None] = {}
        for place, fences in self._fences.items():
            fence = next(iter(fences.values()))
            without = {**changed, **dict.fromkeys(fences)}
            if not self._fails(Fences(without)):
                changed = without
                yield FenceAdvice("remove", place, _name(fence))
                continue
            for narrower in _TRIED:
                if narrower[1] >= fence[1]:
                    break
                narrow = {**changed, **dict.fromkeys(fences, narrower)}
                if not self._fails(Fences(narrow)):
                    changed = narrow
                    yield FenceAdvice("narrow", place, _name(narrower))
                    break
