"""Common base of both oracles: clocks over a kernel, and races among pairs of accesses.

Ref: BARRACUDA (PLDI'17) Sections 3.3 and 4.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.compressed import Format
from racetrap.golden_model.barracuda.history import History, Order
from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.locations import Lanes, sync_keys
from racetrap.golden_model.barracuda.race import BarrierDivergence, Race, RaceKind, Result
from racetrap.golden_model.barracuda.report import first_races
from racetrap.golden_model.barracuda.shadow import Pairs, conflicts, same_instruction_conflicts
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.warp_clocks import WarpClocks
from racetrap.golden_model.events import ALL_LANES, EventKind, Scope

#: Events that change clocks in every analysis.
_STRUCTURE = (EventKind.BARRIER, EventKind.IF, EventKind.ELSE, EventKind.FI, EventKind.EXIT)
#: Synchronising events after which pairs are checked: bounds the memory for clocks.
_STRETCH = 1 << 13

#: Kinds of race, by the numbers that ``race_kinds`` returns.
RACE_KINDS = tuple(RaceKind)
NO_RACE = -1


# Numbers of event kinds: members of an enumeration are slow to look up.
_ATOMIC, _FENCE, _BARRIER = (
    int(kind) for kind in (EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER)
)
_DEVICE = int(Scope.DEVICE)


class Step(NamedTuple):
    """An event that changes clocks, in plain numbers.

    Parameters
    ----------
    row : int
        Row of the event.
    kind, op : int
        Kind of the event, and what an atomic does.
    device : bool
        Whether its scope is the device.
    mask, success : int
        Lanes, and lanes whose CAS succeeded.
    places : list of int
        Synchronization location of each lane of an access.
    """

    row: int
    kind: int
    op: int
    device: bool
    mask: int
    success: int
    places: list[int]


class KernelAnalysis(WarpClocks, ABC):
    """Analysis of one kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel to analyse.
    """

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._history = History(kernel, self.warps)
        self._formats: Counter[Format] = Counter()

    @abstractmethod
    def checked(self) -> np.ndarray:
        """Accesses that can race, ascending."""

    @abstractmethod
    def exempt(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Which pairs of conflicting accesses need no order."""

    @abstractmethod
    def race_kinds(self, pairs: Pairs, order: Order) -> np.ndarray:
        """Kind of race of each pair, as an index of ``RACE_KINDS``, or ``NO_RACE``."""

    @abstractmethod
    def synchronising(self) -> np.ndarray:
        """Accesses and fences that change clocks, ascending."""

    @abstractmethod
    def synchronise(self, step: Step, warp: Warp) -> None:
        """Apply such an access or fence."""

    def run(self) -> Result:
        """Races and barrier divergences of the kernel."""
        rows = self.checked()
        same = same_instruction_conflicts(self.kernel, rows)
        pairs = conflicts(self.kernel, rows, self.exempt)
        same_kind = np.full(len(same), RACE_KINDS.index(RaceKind.SAME_INSTRUCTION))
        found = [(same, same, same_kind), *self._stretches(pairs)]
        first, second, kind = (np.concatenate(each) for each in zip(*found, strict=True))
        result = Result(
            first_races(self.kernel, Pairs(first, second), kind),
            list(self.divergences.values()),
        )
        result.counts.events = len(self.kernel.events)
        result.counts.operations = self._operations()
        result.counts.pairs = len(pairs.first)
        result.counts.formats = {
            each.value: self._formats[each] for each in Format if self._formats[each]
        }
        return result

    def _operations(self) -> int:
        """Thread-level operations: one for each lane of an access, else one for each event."""
        kind = self.kernel.kind
        accesses = int(Lanes(self.kernel, self.kernel.accesses).counts.sum())
        # Every instruction of a warp has its ENDINSN; kernels and placements are no operations.
        instructions = int(np.count_nonzero(kind <= EventKind.FENCE))
        return accesses + instructions + int(np.isin(kind, _STRUCTURE).sum())

    def _stretches(self, pairs: Pairs) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Racy pairs and their kinds, stretch by stretch of the kernel."""
        structure = np.flatnonzero(np.isin(self.kernel.kind, _STRUCTURE))
        rows = np.union1d(structure, self.synchronising())
        found = []
        done = 0
        for start in range(0, len(rows) + 1, _STRETCH):
            stretch = rows[start : start + _STRETCH]
            self._history = History(self.kernel, self.warps)
            self._advance(stretch)
            last = start + _STRETCH > len(rows)
            end = len(pairs.second)
            if not last:
                end = int(np.searchsorted(pairs.second, stretch[-1], side="right"))
            part = Pairs(pairs.first[done:end], pairs.second[done:end])
            done = end
            kind = self.race_kinds(part, self._history.order(part))
            racy = kind != NO_RACE
            found.append((part.first[racy], part.second[racy], kind[racy]))
            self._formats += self._history.formats()
        return found

    def _advance(self, rows: np.ndarray) -> None:
        """Apply events to the clocks."""
        numbers = self.kernel.warp[rows].tolist()
        for step, number in zip(_steps(self.kernel, rows), numbers, strict=True):
            if step.kind == _BARRIER:
                self._history.add(step.row, self.barrier(step.row))
                continue
            warp = self.warps[number]
            before = warp.clock
            if step.kind <= _FENCE:
                self.synchronise(step, warp)
            else:
                warp.branch(EventKind(step.kind), step.mask, step.row)
            if warp.clock is not before:
                self._history.add(step.row, [number])


def _steps(kernel: Kernel, rows: np.ndarray) -> Iterator[Step]:
    """Events of some rows, converted in blocks: single array elements are slow."""
    events = kernel.events[rows]
    mask = np.where(events["mask"] != 0, events["mask"], np.uint32(ALL_LANES))
    columns = [events[name].tolist() for name in ("kind", "op", "scope", "success_mask")]
    accesses = rows[events["kind"] <= EventKind.ATOMIC]
    places = iter(sync_keys(kernel, accesses).tolist())
    counts = iter(Lanes(kernel, accesses).counts.tolist())
    for row, lanes, kind, op, scope, success in zip(
        rows.tolist(), mask.tolist(), *columns, strict=True
    ):
        own = list(islice(places, next(counts))) if kind <= _ATOMIC else []
        yield Step(row, kind, op, scope == _DEVICE, lanes, success, own)


def merge(results: list[Result]) -> Result:
    """Merge the results of kernels into that of their trace."""
    races: dict[Any, Race] = {}
    unordered: dict[Any, Race] = {}
    divergences: dict[int, BarrierDivergence] = {}
    total = Result()
    formats: Counter[str] = Counter()
    for result in results:
        for race in result.races:
            known = races.get(race.key)
            if known is not None:
                race = replace(
                    known,
                    instances=known.instances + race.instances,
                    block_pairs=known.block_pairs + race.block_pairs,
                )
            races[race.key] = race
        for divergence in result.barrier_divergences:
            divergences.setdefault(divergence.pc, divergence)
        for pair in result.unordered_strong:
            unordered.setdefault(pair.key, pair)
        total.partly_judged += result.partly_judged
        total.counts.events += result.counts.events
        total.counts.operations += result.counts.operations
        total.counts.pairs += result.counts.pairs
        formats.update(result.counts.formats)
    total.races, total.barrier_divergences = list(races.values()), list(divergences.values())
    total.unordered_strong = list(unordered.values())
    total.counts.formats = dict(formats)
    return total
