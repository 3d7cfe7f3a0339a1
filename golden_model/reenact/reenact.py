"""W-ReEnact: the cache-based race detector that SigRace is compared with.

Ref: SigRace (ISCA'09) Sections 2.2 and 5.4.1, Table 4 (L1: 32 Kbytes, 64-byte lines, MESI).
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.happens_before.accesses import shared_accesses
from racetrap.golden_model.happens_before.clocks import EpochClocks, epoch_clocks
from racetrap.golden_model.happens_before.epochs import EventEpochs, event_epochs
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.reenact.cache import LINE_BYTES, WAYS, CoherentCaches, Line
from racetrap.golden_model.reenact.watchpoints import Meeting, watch
from racetrap.golden_model.trace.threads.events import (
    GRANULE_BYTES,
    GRANULE_LOG2,
    WRITE_KINDS,
    ThreadEventKind,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
#: Events turned into Python objects at a time.
_BLOCK = 1 << 16


class Reenact:
    """ReEnact with a timestamp for each word, on a trace.

    Every word of every L1 cache has the timestamps (vector clocks of epochs) of the last read and
    the last write that this cache did.  An access that misses, or writes to a line that other
    caches share, is a coherence action: the copies of the line in all other caches compare their
    timestamps of the word with the access's. Then a write invalidates them.  An access is also
    compared with the timestamps in its own cache, which may be from another thread that ran there.
    An unordered pair, one of them a write, is a race; the program is then executed again with a
    watchpoint on the word, which finds all accesses to it in the two epochs.

    A line's timestamps are lost when it is displaced or invalidated.  The paper leaves open whether
    a clean copy answers a read: here it does, which favours this detector, as do unlimited
    timestamps and rollbacks that always reach back far enough.  Atomic accesses and accesses that
    are not collected move lines, but leave no timestamps and are not checked, as in SigRace;
    reallocated memory has no timestamps.  Thread t runs on core t modulo ``cores``.

    Parameters
    ----------
    cores : int
        Cores, with one cache each.
    cache_bytes, line_bytes : int
        Size of a cache and of its lines.
    ways : int
        Associativity, with LRU replacement; the paper does not give it.

    Raises
    ------
    ValueError
        If a parameter is out of range, or lines do not fill sets.
    """

    def __init__(
        self, cores: int = 8, cache_bytes: int = 32 << 10, line_bytes: int = LINE_BYTES,
        ways: int = WAYS,
    ) -> None:  # fmt: skip
        if cores < 1:
            raise ValueError(f"Number of cores must be at least 1, not {cores}")
        if line_bytes < GRANULE_BYTES or line_bytes & (line_bytes - 1):
            raise ValueError(f"Size of a line must be a power of two from 4 on, not {line_bytes}")
        if ways < 1 or cache_bytes < line_bytes * ways or cache_bytes % (line_bytes * ways):
            raise ValueError(
                f"Size of a cache must be a multiple of {ways} lines of {line_bytes} bytes, "
                f"not {cache_bytes}"
            )
        self._cores = cores
        self._sets, self._ways = cache_bytes // (line_bytes * ways), ways
        self._line_log2 = line_bytes.bit_length() - 1 - GRANULE_LOG2

    def run(self, trace: ThreadTrace) -> list[ThreadRace]:
        """Races found in a trace, in ascending order."""
        epochs = event_epochs(trace.events)
        clocks = epoch_clocks(trace.events, epochs.steps, trace.header.threads)
        caches = CoherentCaches(self._cores, self._sets, self._ways)
        run = _Run(caches, self._line_log2, clocks)
        chosen = np.flatnonzero(
            (trace.events["kind"] <= _KIND.ATOMIC_UPDATE) | (trace.events["kind"] == _KIND.ALLOCATE)
        )
        for start in range(0, len(chosen), _BLOCK):
            run.events(trace.events, epochs, chosen[start : start + _BLOCK])
        return watch(run.meetings, shared_accesses(trace.events, epochs))


class _Run:
    """State of a run over a trace."""

    def __init__(self, caches: CoherentCaches, line_log2: int, clocks: EpochClocks) -> None:
        self.meetings: set[Meeting] = set()
        self._caches = caches
        self._line_log2 = line_log2
        self._clocks = clocks
        threads = len(clocks.first)
        self._epoch_known = [-1] * threads
        self._clock_of: list[list[int]] = [[] for _ in range(threads)]

    def events(self, events: np.ndarray, epochs: EventEpochs, chosen: np.ndarray) -> None:
        """Some accesses and allocations, in order."""
        rows = events[chosen]
        is_checked = epochs.collected[chosen] & (rows["kind"] <= _KIND.STORE)
        columns = (
            rows["kind"],
            rows["thread"],
            (rows["address"] >> np.uint64(GRANULE_LOG2)),
            (rows["address"] + rows["size"] - np.uint64(1)) >> np.uint64(GRANULE_LOG2),
            rows["value"],
            np.isin(rows["kind"], WRITE_KINDS),
            epochs.epoch[chosen],
            is_checked,
        )
        log2 = self._line_log2
        for kind, thread, first, last, size, is_write, epoch, checked in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if kind == _KIND.ALLOCATE:
                for cache in self._caches.caches:
                    end = first + (size + GRANULE_BYTES - 1) // GRANULE_BYTES
                    cache.forget(first, end, 1 << log2)
            elif first >> log2 == last >> log2:
                self._access(thread, first, last, is_write, epoch, checked)
            else:
                middle = last >> log2 << log2  # the access crosses from one line into the next
                self._access(thread, first, middle - 1, is_write, epoch, checked)
                self._access(thread, middle, last, is_write, epoch, checked)

    def _access(
        self, thread: int, first: int, last: int, is_write: bool, epoch: int, checked: bool
    ) -> None:
        """An access to granules ``first`` to ``last`` of one line."""
        core = thread % len(self._caches.caches)
        line, met = self._caches.access(core, first >> self._line_log2, is_write)
        if not checked:
            return
        self._check([*met, line], thread, first, last, is_write, epoch)
        stamps = line.writes if is_write else line.reads
        for granule in range(first, last + 1):
            stamps[granule] = (thread, epoch)

    def _check(
        self, lines: list[Line], thread: int, first: int, last: int, is_write: bool, epoch: int
    ) -> None:
        """Compare the timestamps of the words accessed."""
        if self._epoch_known[thread] != epoch:
            self._epoch_known[thread] = epoch
            row = self._clocks.first[thread] + epoch
            self._clock_of[thread] = self._clocks.matrix[row].tolist()
        clock = self._clock_of[thread]
        for line in lines:
            for stamps in (line.writes, line.reads) if is_write else (line.writes,):
                for granule in range(first, last + 1):
                    stamp = stamps.get(granule)
                    if stamp and stamp[0] != thread and stamp[1] >= clock[stamp[0]]:
                        self.meetings.add(Meeting(granule, stamp, (thread, epoch)))
