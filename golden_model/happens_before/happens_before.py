"""Happened-before oracle: all races of a trace of threads.

Ref: SigRace (ISCA'09) Sections 2.1 and 5.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.arrays import ranges
from racetrap.golden_model.happens_before.accesses import SharedAccesses, shared_accesses
from racetrap.golden_model.happens_before.clocks import epoch_clocks
from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.happens_before.pairs import Intervals, unordered_pairs
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["HappensBefore", "HappensBeforeResult"]

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
        Races altogether; those beyond the limit are counted for each life of reallocated memory.
    static : frozenset of (int, int)
        Pairs of instructions of all races, also of those beyond the limit.
    false_sharing : frozenset of ThreadRace
        Those of ``races`` whose accesses are to different bytes of the granule: no race of the
        program, though every detector with 4-byte granules takes them for one.
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
        """Whether ``races`` has them all."""
        return len(self.races) == self.dynamic


class HappensBefore:
    """All unordered pairs of accesses of different threads to one granule, with a write.

    Two atomic accesses do not race.  Accesses between COLLECT_OFF and COLLECT_ON are not checked.
    Memory that is allocated anew is new: its earlier life does not race with it.  Accesses of one
    thread, epoch and instruction to a granule count once.  Time grows with accesses and with the
    instructions that share a granule, not with the number of races.

    Parameters
    ----------
    limit : int
        Most races listed, rather than only counted.

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
        # Race -> whether some of its accesses share a byte, and whether some are both plain.
        self._found: dict[ThreadRace, tuple[bool, bool]] = {}
        self._listed = 0

    def add(self, intervals: Intervals) -> None:
        """Count all pairs of some intervals, and list those that the limit allows."""
        counts = intervals.high - intervals.low
        self._pairs += int(counts.sum())
        one, other = self.accesses.pc[intervals.group], self.accesses.pc[intervals.other]
        keys = np.unique(np.minimum(one, other) << 32 | np.maximum(one, other))
        self._static.update((key >> 32, key & 0xFFFF_FFFF) for key in keys.tolist())
        for start in range(0, len(counts), _CHUNK):
            part = slice(start, start + _CHUNK)
            self._list(Intervals(*(column[part] for column in intervals)), counts[part])

    def _list(self, intervals: Intervals, counts: np.ndarray) -> None:
        room = self._limit - self._listed
        if room <= 0:
            return
        counts = np.clip(room - (np.cumsum(counts) - counts), 0, counts)
        accesses = self.accesses
        rows = np.repeat(intervals.row, counts)
        others = ranges(intervals.low, counts)
        groups, partners = np.repeat(intervals.group, counts), np.repeat(intervals.other, counts)
        self._listed += len(rows)
        overlaps = (accesses.bytes_used[rows] & accesses.bytes_used[others]) != 0
        plain = ~(accesses.is_atomic[groups] | accesses.is_atomic[partners])
        addresses = accesses.granule[groups] * GRANULE_BYTES
        for address, one, other, overlap, is_plain in zip(
            addresses.tolist(),
            self._parties(groups, rows),
            self._parties(partners, others),
            overlaps.tolist(),
            plain.tolist(),
            strict=True,
        ):
            race = ThreadRace.of(address, one, other)
            seen = self._found.get(race, (False, False))
            self._found[race] = (seen[0] or overlap, seen[1] or is_plain)

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
            false_sharing=frozenset(race for race in races if not self._found[race][0]),
            involves_atomic=frozenset(race for race in races if not self._found[race][1]),
        )
