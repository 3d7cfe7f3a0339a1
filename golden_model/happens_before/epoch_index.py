"""Index of the epochs of each thread of a trace, and of the accesses collected in them.

It replaces executing the program again, since the trace has recorded every epoch.  A position is a
number of events of one thread: an epoch is the half-open range of positions from its start to the
start of the next.

Ref: SigRace (ISCA'09) Sections 3.3.2 and 3.4.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES, GRANULE_LOG2, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_LOG2 = np.uint64(GRANULE_LOG2)
#: Epochs whose granules are cached; bounds the memory on long traces.
_REMEMBERED = 1 << 12


class CollectedAccess(NamedTuple):
    """A plain access that is collected into signatures.

    Parameters
    ----------
    number : int
        Number of its event in the trace.
    address, size, pc : int
        As the event has them.
    is_write : bool
        Whether it is a store.
    """

    number: int
    address: int
    size: int
    pc: int
    is_write: bool


class EpochIndex:
    """Epochs, committed instructions and collected accesses of each thread of a trace.

    Built once by sorting the events by thread; every query is a binary search.

    Parameters
    ----------
    trace : ThreadTrace
        A valid trace.
    """

    def __init__(self, trace: ThreadTrace) -> None:
        events, threads = trace.events, trace.header.threads
        epochs = event_epochs(events)
        order = np.argsort(events["thread"], kind="stable")
        begins = np.searchsorted(events["thread"][order], np.arange(threads + 1)).tolist()
        self._threads = [slice(*bounds) for bounds in pairwise(begins)]
        self._numbers = order
        self._epochs = epochs.epoch[order]
        self._instructions = np.concatenate(
            [[0], np.cumsum(events["instructions"][order], dtype=np.int64)]
        )
        collected = (events["kind"] <= ThreadEventKind.STORE) & epochs.collected
        self._rows = np.flatnonzero(collected[order])
        self._accesses = events[order[self._rows]]
        address = self._accesses["address"]
        self._first = (address >> _LOG2).astype(np.int64)
        self._last = (address + (self._accesses["size"] - 1) >> _LOG2).astype(np.int64)
        self._allocations = Allocations(events)
        self._granules: dict[tuple[int, int, int], list[int]] = {}

    def last_epoch(self) -> int:
        """Highest number of an epoch in which any thread has an event."""
        return int(self._epochs.max(initial=0))

    def start(self, thread: int, epoch: int) -> int:
        """Position at which an epoch starts; also the end of the epoch before."""
        return int(np.searchsorted(self._epochs[self._threads[thread]], epoch))

    def position(self, thread: int, number: int) -> int:
        """Events of a thread up to and including event ``number`` of the trace."""
        return int(np.searchsorted(self._numbers[self._threads[thread]], number, side="right"))

    def instructions(self, thread: int, first: int, last: int) -> int:
        """Instructions committed by a thread in the events from ``first`` up to ``last``,
        exclusive."""
        base = self._threads[thread].start
        return int(self._instructions[base + last] - self._instructions[base + first])

    def granules(self, thread: int, first: int, last: int) -> list[int]:
        """Different granules (byte addresses) that are collected there, ascending.

        The result is cached: an epoch is often requested again.
        """
        key = thread, first, last
        if key not in self._granules:
            if len(self._granules) >= _REMEMBERED:
                self._granules.clear()
            rows = self._slice(thread, first, last)
            starts, ends = self._first[rows], self._last[rows]
            found = [starts]
            while (more := starts < ends).any():
                starts, ends = starts[more] + 1, ends[more]
                found.append(starts)
            self._granules[key] = (np.unique(np.concatenate(found)) << GRANULE_LOG2).tolist()
        return self._granules[key]

    def accesses(
        self, thread: int, first: int, last: int, granules: Sequence[int]
    ) -> list[CollectedAccess]:
        """Accesses there, in order, that touch any of ``granules`` (byte addresses, ascending)."""
        rows = self._slice(thread, first, last)
        wanted = np.array(granules, dtype=np.int64) >> GRANULE_LOG2
        # An access touches a wanted granule iff one lies from its first to its last.
        found = np.searchsorted(wanted, self._last[rows], side="right")
        chosen = rows.start + np.flatnonzero(found > np.searchsorted(wanted, self._first[rows]))
        records = self._accesses[chosen]
        columns = (records[name].tolist() for name in ("address", "size", "pc"))
        numbers = self._numbers[self._rows[chosen]].tolist()
        writes = (records["kind"] == ThreadEventKind.STORE).tolist()
        return list(map(CollectedAccess, numbers, *columns, writes))

    def life(self, granule: int, number: int) -> int:
        """Number of allocations that cover a granule (byte address) before an event."""
        return self._allocations.life(granule, number)

    def _slice(self, thread: int, first: int, last: int) -> slice:
        """Rows of the collected accesses of a range of positions."""
        base = self._threads[thread].start
        begin, end = np.searchsorted(self._rows, [base + first, base + last]).tolist()
        return slice(begin, end)


class Allocations:
    """Allocations of a trace by granule.

    Parameters
    ----------
    events : numpy.ndarray
        Records of the trace.
    """

    def __init__(self, events: np.ndarray) -> None:
        self._numbers = np.flatnonzero(events["kind"] == ThreadEventKind.ALLOCATE)
        self._first = events["address"][self._numbers]
        self._end = self._first + events["value"][self._numbers]
        self._known: dict[int, list[int]] = {}

    def life(self, granule: int, number: int) -> int:
        """Number of allocations that cover a granule (byte address) before an event."""
        if granule not in self._known:
            covers = (self._end > np.uint64(granule)) & (
                self._first < np.uint64(granule + GRANULE_BYTES)
            )
            self._known[granule] = self._numbers[covers].tolist()
        return bisect_left(self._known[granule], number)
