"""Causes of races: what would have ordered the two accesses, and is missing.

The exact oracle judges a kernel again with wider scopes, with a release at every strong write, and
with an acquire at every strong read.  A race that one of these changes removes lacks that; the
instructions whose change is needed are those that a cure changes.

Ref: PTX ISA 9.0, Sections 8.5 (scopes), 8.8 (release and acquire patterns), 8.9.5 (causality).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.race import Missing, Race, RaceClass, RaceKind
from racetrap.golden_model.events import AtomicOp, EventKind, MemoryOrder, Scope, Space
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import assumes_lockstep
from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle
from racetrap.sim.gpu.oracle.findings import OracleRule

#: Instructions of each kind that are tried one by one, at most.
_MOST_TRIED = 24
_RELEASES = (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
_ACQUIRES = (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
#: What is missing if no other synchronisation would have ordered the accesses.
_BARRIERS = {
    RaceClass.DIVERGENCE: Missing.WARP_BARRIER,
    RaceClass.INTRA_BLOCK: Missing.BARRIER,
    RaceClass.INTER_BLOCK: Missing.RELEASE,
    RaceClass.INTER_LAUNCH: Missing.STREAM_ORDER,
}
_BY_KIND = {
    RaceKind.SAME_INSTRUCTION: Missing.UNEQUAL_STORE,
    RaceKind.SCOPED_ATOMIC: Missing.SCOPE,
    RaceKind.NOT_STRONG: Missing.STRONG_ACCESS,
}
#: Kinds of race that no synchronisation would order.
_DECIDED = (RaceKind.SAME_INSTRUCTION, RaceKind.NOT_STRONG)


@dataclass(frozen=True)
class RaceCause:
    """Why two accesses race.

    Parameters
    ----------
    missing : Missing
        What would have ordered them.
    changes : tuple of int
        Program counters of the instructions that lack it, ascending: atomics, strong accesses and
        fences; none if no instruction of the run would have done.
    fence : int or None
        Program counter of a fence that stands too late: behind a write that should release.
    """

    missing: Missing
    changes: tuple[int, ...] = ()
    fence: int | None = None


class _Change(NamedTuple):
    """A change of a kernel's events that may remove a race.

    Parameters
    ----------
    missing : Missing
        What a race lacks that it removes.
    rows : callable
        Which events it changes, of those of a kernel.
    make : callable
        Changes events in place.
    """

    missing: Missing
    rows: Callable[[np.ndarray], np.ndarray]
    make: Callable[[np.ndarray, np.ndarray], None]


def _is_strong(events: np.ndarray) -> np.ndarray:
    strong: np.ndarray = (events["kind"] <= EventKind.ATOMIC) & (events["strong"] != 0)
    return strong


def _narrow(events: np.ndarray) -> np.ndarray:
    rows: np.ndarray = (_is_strong(events) | (events["kind"] == EventKind.FENCE)) & (
        events["scope"] != Scope.DEVICE
    )
    return rows


def _unreleased(events: np.ndarray) -> np.ndarray:
    rows: np.ndarray = (
        _is_strong(events) & (events["kind"] != EventKind.LOAD)
        & ~np.isin(events["order"], _RELEASES)
    )  # fmt: skip
    return rows


def _unacquired(events: np.ndarray) -> np.ndarray:
    rows: np.ndarray = (
        _is_strong(events) & (events["kind"] != EventKind.STORE)
        & ~np.isin(events["order"], _ACQUIRES)
    )  # fmt: skip
    return rows


def _widen(events: np.ndarray, rows: np.ndarray) -> None:
    events["scope"][rows] = Scope.DEVICE


def _release(events: np.ndarray, rows: np.ndarray) -> None:
    acquires = np.isin(events["order"], _ACQUIRES)
    events["order"][rows & acquires] = MemoryOrder.ACQ_REL
    events["order"][rows & ~acquires] = MemoryOrder.RELEASE


def _acquire(events: np.ndarray, rows: np.ndarray) -> None:
    releases = np.isin(events["order"], _RELEASES)
    events["order"][rows & releases] = MemoryOrder.ACQ_REL
    events["order"][rows & ~releases] = MemoryOrder.ACQUIRE


_SCOPE = _Change(Missing.SCOPE, _narrow, _widen)
_RELEASE = _Change(Missing.RELEASE, _unreleased, _release)
_ACQUIRE = _Change(Missing.ACQUIRE, _unacquired, _acquire)
#: Changes that may remove a race, the smallest first; the first of each names what is missing.
_ATTEMPTS = (
    (_SCOPE,), (_RELEASE,), (_ACQUIRE,), (_RELEASE, _ACQUIRE), (_RELEASE, _ACQUIRE, _SCOPE),
)  # fmt: skip


def causes_of(trace: Trace, rule: str, races: Sequence[Race], independent: bool) -> list[RaceCause]:
    """Cause of each race of a run.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        Rule by which they are races.
    races : sequence of Race
        The races.
    independent : bool
        Whether lanes were scheduled independently.
    """
    found = [RaceCause(_BY_KIND.get(race.kind) or _barrier(race)) for race in races]
    open_races: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for number, race in enumerate(races):
        within = race.race_class is not RaceClass.INTER_BLOCK
        if race.kind not in _DECIDED and race.race_class is not RaceClass.INTER_LAUNCH:
            open_races[race.kernel, within].append(number)
    if assumes_lockstep(rule) or not open_races:
        return found
    oracle = CompiledOracle(OracleRule(rule), independent)
    for kernel in kernels_of(trace):
        for within in (False, True):
            numbers = open_races[kernel.number, within]
            causes = _Counterfactuals(oracle, kernel, within).causes([races[n] for n in numbers])
            for number, cause in zip(numbers, causes, strict=True):
                found[number] = cause or found[number]
    return found


def _barrier(race: Race) -> Missing:
    if race.owner is not None and race.race_class is RaceClass.INTER_BLOCK:
        return Missing.CLUSTER_BARRIER
    return _BARRIERS[race.race_class]


_Key = tuple[frozenset[int], RaceClass, Space]


def _key(race: Race) -> _Key:
    return frozenset((race.first.pc, race.second.pc)), race.race_class, race.space


class _Counterfactuals:
    """Verdicts on a kernel with changed events.

    Parameters
    ----------
    oracle : CompiledOracle
        The judge.
    kernel : Kernel
        The kernel.
    within : bool
        Whether the races are inside a block.  There a barrier is the usual order, and only flags
        and locks are looked at: a counter orders what it was not made for.
    """

    def __init__(self, oracle: CompiledOracle, kernel: Kernel, within: bool) -> None:
        self._oracle, self._kernel = oracle, kernel
        self._events, self._pcs = kernel.events, kernel.events["pc"]
        is_counter = (kernel.kind == EventKind.ATOMIC) & (self._events["op"] == AtomicOp.OTHER)
        self._is_plain_write = _is_strong(self._events) & (
            (kernel.kind == EventKind.STORE)
            | ((kernel.kind == EventKind.ATOMIC) & (self._events["op"] == AtomicOp.EXCH))
        )
        self._synchronises = _is_strong(self._events) | (kernel.kind == EventKind.FENCE)
        self._others = ~is_counter if within else np.ones(len(self._events), dtype=bool)

    def causes(self, races: Sequence[Race]) -> list[RaceCause | None]:
        """Cause of each race that one of the attempts removes."""
        found: list[RaceCause | None] = [None] * len(races)
        for attempt in _ATTEMPTS:
            left = [number for number, cause in enumerate(found) if cause is None]
            rows = [change.rows(self._events) & self._others for change in attempt]
            if not left or not all(each.any() for each in rows):
                continue
            still = self._judge(attempt, rows)
            removed = {n: _key(races[n]) for n in left if _key(races[n]) not in still}
            if not removed:
                continue
            needed = self._needed(set(removed.values()), attempt, rows)
            for number, key in removed.items():
                changes = tuple(sorted(needed[key]))
                cause = RaceCause(attempt[0].missing, changes)
                if cause.missing is Missing.RELEASE:
                    cause = replace(cause, fence=self._fence_behind(races[number], changes))
                found[number] = cause
        return found

    def _judge(self, attempt: Sequence[_Change], rows: Sequence[np.ndarray]) -> set[_Key]:
        """Races that are left after a change of some events."""
        events = self._events.copy()
        for change, chosen in zip(attempt, rows, strict=True):
            change.make(events, chosen)
        self._kernel.events = events
        try:
            return set(map(_key, self._oracle.run_kernel(self._kernel).races))
        finally:
            self._kernel.events = self._events

    def _needed(
        self, keys: Set[_Key], attempt: Sequence[_Change], rows: Sequence[np.ndarray]
    ) -> dict[_Key, set[int]]:
        """Program counters of the instructions without whose change a race stays: of several that
        do, those that run least often, as a thread that waits reads again and again."""
        needed: dict[_Key, set[int]] = {key: set() for key in keys}
        kept = [*rows]
        for number, chosen in enumerate(rows):
            pcs, counts = np.unique(self._pcs[chosen], return_counts=True)
            for pc in pcs[np.argsort(-counts, kind="stable")][:_MOST_TRIED].tolist():
                without = [*kept]
                without[number] = kept[number] & (self._pcs != pc)
                back = keys & self._judge(attempt, without)
                kept = kept if back else without
                for key in back:
                    needed[key].add(pc)
        return needed

    def _fence_behind(self, race: Race, changes: Collection[int]) -> int | None:
        """A fence right behind a write that should release, of a thread that may have made it
        between the two accesses, and has no fence ahead of it."""
        first, second = (party.event - self._kernel.begin for party in (race.first, race.second))
        between = np.arange(max(first, 0), second + 1)
        for row in between[
            self._is_plain_write[between] & np.isin(self._pcs[between], list(changes))
        ]:
            own = self._thread_at(int(row))
            ahead = self._first_fence(own[(first < own) & (own < row)][::-1])
            behind = self._first_fence(own[own > row])
            if behind is not None and ahead is None:
                return behind
        return None

    def _first_fence(self, rows: np.ndarray) -> int | None:
        """Program counter of the first of some events that synchronise, if it is a fence."""
        rows = rows[self._synchronises[rows]][:1]
        is_fence = self._kernel.kind[rows] == EventKind.FENCE
        return int(self._pcs[rows[0]]) if is_fence.any() else None

    def _thread_at(self, row: int) -> np.ndarray:
        """Rows of the events of the first thread of an event."""
        masks = self._events["mask"].astype(np.int64)
        lane = max(int(masks[row]) & -int(masks[row]), 1)
        has_lane = (masks == 0) | (masks & lane != 0)
        return np.flatnonzero((self._kernel.warp == self._kernel.warp[row]) & has_lane)
