"""Happens-before oracle: all races of a trace of threads.

Ref: SigRace (ISCA'09) Sections 2.1 and 5.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.happens_before.accesses import SharedAccesses, shared_accesses
from racetrap.golden_model.happens_before.clocks import epoch_clocks
from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.happens_before.pairs import Intervals, unordered_pairs
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.container.arrays import ranges
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

#: Intervals whose races are listed at a time.
_CHUNK = 1 << 14


@dataclass(frozen=True)
class HappensBeforeResult:
    """Races of a trace.

    Parameters
    ----------
    races : list of ThreadRace
        Races in ascending order: all, or as many as the oracle's limit, lowest addresses first.
    dynamic : int
        Total races; those beyond the limit are counted for each allocation of reused memory, and
        for each set of bytes.
    static : frozenset of (int, int)
        Pairs of instructions of all races, also of those beyond the limit.
    false_sharing : frozenset of ThreadRace
        Unordered accesses to different bytes of one granule, up to the limit: not races, but every
        detector with 4-byte granules reports them.
    involves_atomic : frozenset of ThreadRace
        Those of ``races`` in which one access is atomic: SigRace does not collect it.
    """

    races: list[ThreadRace]
    dynamic: int
    static: frozenset[tuple[int, int]]
    false_sharing: frozenset[ThreadRace]
    involves_atomic: frozenset[ThreadRace]

    @property
    def is_complete(self) -> bool:
        """Whether ``races`` is complete."""
        return len(self.races) == self.dynamic


class HappensBefore:
    """All unordered pairs of accesses of different threads to one byte, with a write.

    Two atomic accesses do not race.  Accesses between COLLECT_OFF and COLLECT_ON are not checked.
    Reallocated memory does not race with accesses before its reallocation.  Accesses of one
    thread, epoch and instruction to a granule count once.  Time grows with accesses and with the
    instructions that share a granule, not with the number of races.

    Parameters
    ----------
    limit : int
        Maximum races to list; further ones are only counted.

    Raises
    ------
    ValueError
        If ``limit`` is negative.
    """

    def __init__(self, limit: int = 1_000_000) -> None:
        if limit < 0:
            raise ValueError(f"Limit of listed races must be at least 0, not {limit}")
        self._limit = limit

    def run(self, trace: ThreadTrace) -> HappensBeforeResult:
        """Races of a trace."""
        epochs = event_epochs(trace.events)
        clocks = epoch_clocks(trace.events, epochs.steps, trace.header.threads)
        races = _Races(shared_accesses(trace.events, epochs), self._limit)
        for intervals in unordered_pairs(races.accesses, clocks):
            races.add(intervals)
        return races.result()


class _Races:
    """Collects the races of a trace."""

    def __init__(self, accesses: SharedAccesses, limit: int) -> None:
        self.accesses = accesses
        self._limit = limit
        self._pairs = 0
        self._static: set[tuple[int, int]] = set()
        # Race -> whether some of its accesses are both plain.
        self._found: dict[ThreadRace, bool] = {}
        self._false_sharing: set[ThreadRace] = set()
        self._listed = 0

    def add(self, intervals: Intervals) -> None:
        """Count all pairs of some intervals, and list those that the limit allows."""
        used = self.accesses.bytes_used
        is_race = (used[intervals.group] & used[intervals.other]) != 0
        self._add_races(Intervals(*(column[is_race] for column in intervals)))
        apart = Intervals(*(column[~is_race] for column in intervals))
        counts = apart.high - apart.low
        for start in range(0, len(counts), _CHUNK):
            part = slice(start, start + _CHUNK)
            chunk = Intervals(*(column[part] for column in apart))
            room = self._limit - len(self._false_sharing)
            self._false_sharing.update(race for race, _ in self._pairs_of(chunk, room))

    def _add_races(self, intervals: Intervals) -> None:
        counts = intervals.high - intervals.low
        self._pairs += int(counts.sum())
        one, other = self.accesses.pc[intervals.group], self.accesses.pc[intervals.other]
        keys = np.unique(np.minimum(one, other) << 32 | np.maximum(one, other))
        self._static.update((key >> 32, key & 0xFFFF_FFFF) for key in keys.tolist())
        for start in range(0, len(counts), _CHUNK):
            part = slice(start, start + _CHUNK)
            chunk = Intervals(*(column[part] for column in intervals))
            for race, is_plain in self._pairs_of(chunk, self._limit - self._listed):
                self._listed += 1
                self._found[race] = self._found.get(race, False) or is_plain

    def _pairs_of(self, intervals: Intervals, room: int) -> Iterator[tuple[ThreadRace, bool]]:
        """The pairs of some intervals, at most ``room``, and whether both accesses are plain."""
        if room <= 0:
            return
        counts = intervals.high - intervals.low
        counts = np.clip(room - (np.cumsum(counts) - counts), 0, counts)
        accesses = self.accesses
        rows = np.repeat(intervals.row, counts)
        others = ranges(intervals.low, counts)
        groups, partners = np.repeat(intervals.group, counts), np.repeat(intervals.other, counts)
        plain = ~(accesses.is_atomic[groups] | accesses.is_atomic[partners])
        addresses = accesses.granule[groups] * GRANULE_BYTES
        for address, one, other, is_plain in zip(
            addresses.tolist(),
            self._parties(groups, rows),
            self._parties(partners, others),
            plain.tolist(),
            strict=True,
        ):
            yield ThreadRace.of(address, one, other), is_plain

    def _parties(self, groups: np.ndarray, rows: np.ndarray) -> list[RaceParty]:
        columns = (
            self.accesses.thread[groups],
            self.accesses.epoch[rows],
            self.accesses.pc[groups],
            self.accesses.is_write[groups],
        )
        return [*map(RaceParty._make, zip(*(column.tolist() for column in columns), strict=True))]

    def result(self) -> HappensBeforeResult:
        """The races, once all intervals have been added."""
        races = sorted(self._found)
        is_complete = self._listed == self._pairs
        return HappensBeforeResult(
            races=races,
            dynamic=len(races) if is_complete else self._pairs,
            static=frozenset(self._static),
            false_sharing=frozenset(self._false_sharing - self._found.keys()),
            involves_atomic=frozenset(race for race in races if not self._found[race]),
        )
