"""Figures 9, 10(c) and 10(d) of one program: what caches and BlockHistoryQueues lose, and what
memory gets.

Ref: SigRace (ISCA'09) Sections 3.3.1, 5.4.2 and 5.5, Table 4.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from racetrap.evaluation.sigrace.line_events import LineEvents
from racetrap.golden_model.reenact.cache import LINE_BYTES, WAYS, CoherentCaches
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sync_library import MAX_INSTRUCTIONS
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

#: Bytes of the caches of Fig. 9; CHOSEN_CACHE is that of Table 4.
CACHE_BYTES = (8 << 10, 16 << 10, 32 << 10, 64 << 10)
CHOSEN_CACHE = 32 << 10

#: Events turned into Python objects at a time.
_SHARE = 1 << 16


@dataclass
class CacheCounts:
    """Counts of lines of all caches of one size.

    Attributes
    ----------
    lost : int
        Displacements and invalidations of lines with shared data.
    queued, opened : int
        Those of them whose address is then in the thread's BlockHistoryQueue, and those that are
        only in its block of that time, which has not ended.
    cached, cached_shared : int
        Addresses of displaced blocks that are nowhere else in the queue, but in the cache: all, and
        those of lines with shared data.
    logged, written_back : int
        First write-backs of a line after a checkpoint, up to the next one; dirty lines that
        checkpoints write back, which count as the former as well.
    """

    lost: int = 0
    queued: int = 0
    opened: int = 0
    cached: int = 0
    cached_shared: int = 0
    logged: int = 0
    written_back: int = 0


@dataclass
class LineCounts:
    """Counts of a program whose blocks hold addresses of lines.

    Attributes
    ----------
    instructions, threads, checkpoints : int
        Committed instructions, threads (each on a processor of its own), and checkpoints.
    blocks, lines, shared_lines : int
        Blocks that are not empty, their addresses, and those of lines with shared data.
    displaced_lines : int
        Addresses of the blocks displaced from a full BlockHistoryQueue.
    caches : mapping of int to CacheCounts
        By bytes of a cache.
    """

    instructions: int = 0
    threads: int = 0
    checkpoints: int = 0
    blocks: int = 0
    lines: int = 0
    shared_lines: int = 0
    displaced_lines: int = 0
    caches: Mapping[int, CacheCounts] = field(default_factory=dict)


def count_lines(
    trace: ThreadTrace, params: SigraceParams, *, interval: int = 1_000_000,
    cache_bytes: Sequence[int] = CACHE_BYTES,
) -> LineCounts:  # fmt: skip
    """Counts of a program in the order of its recording.

    Blocks end as those of form ``hashed`` do: after ``block_instructions``, at a synchronisation or
    at a checkpoint, which also empties the queues.  All accesses move lines; blocks hold the lines
    of plain accesses that are collected, and a line has shared data if several threads so access
    it.  The blocks of a thread are in its queue once they have ended.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    params : SigraceParams
        Size of blocks and queues.
    interval : int
        Instructions committed by one thread from one checkpoint to the next.
    cache_bytes : sequence of int
        Sizes of caches.
    """
    events = LineEvents(trace.events)
    run = _Run(trace.header.threads, events.shared_lines(), params, interval, cache_bytes)
    for first in range(0, len(trace), _SHARE):
        run.play(events.rows(first, first + _SHARE))
    for thread in range(trace.header.threads):
        run.end_block(thread)
    run.counts.instructions = int(trace.events["instructions"].sum(dtype=np.uint64))
    return run.counts


class _Blocks:
    """Block and BlockHistoryQueue of a thread, of addresses of lines."""

    def __init__(self, depth: int) -> None:
        self.instructions = 0
        self.lines: set[int] = set()
        #: Blocks of the queue in which each line is.
        self.held: Counter[int] = Counter()
        self._depth = depth
        self._queue: deque[set[int]] = deque()

    def push(self) -> set[int]:
        """The block ends and goes into the queue; gives the block that this displaces."""
        self.held.update(self.lines)
        self._queue.append(self.lines)
        self.lines = set()
        if len(self._queue) <= self._depth:
            return set()
        oldest = self._queue.popleft()
        self.held.subtract(oldest)
        return oldest

    def flush(self) -> None:
        """Empty the queue."""
        self._queue.clear()
        self.held.clear()


class _Level:
    """Caches of one size, whose losses are counted."""

    def __init__(self, size: int, blocks: Sequence[_Blocks], shared: set[int]) -> None:
        self.counts = CacheCounts()
        self.coherent = CoherentCaches(len(blocks), size // (LINE_BYTES * WAYS), WAYS, self)
        self._blocks, self._shared = blocks, shared
        #: Lines that memory has got since the last checkpoint.
        self._updated: set[int] = set()

    def lose(self, core: int, number: int) -> None:
        if number in self._shared:
            self.counts.lost += 1
            blocks = self._blocks[core]
            if blocks.held[number]:
                self.counts.queued += 1
            elif number in blocks.lines:
                self.counts.opened += 1

    def write_back(self, number: int) -> None:
        self._updated.add(number)

    def forget(self, core: int, numbers: Iterable[int]) -> None:
        """Lines have left a thread's queue."""
        cache = self.coherent.caches[core]
        for number in numbers:
            if cache.find(number) is not None:
                self.counts.cached += 1
                self.counts.cached_shared += number in self._shared

    def take_checkpoint(self) -> None:
        """Write all dirty lines back; the next interval has a log of its own."""
        dirty = [number for cache in self.coherent.caches for number in cache.clean()]
        self.counts.written_back += len(dirty)
        self.counts.logged += len(self._updated.union(dirty))
        self._updated.clear()


class _Run:
    """Caches of all sizes, and blocks, over a trace."""

    def __init__(
        self, threads: int, shared: set[int], params: SigraceParams, interval: int,
        cache_bytes: Sequence[int],
    ) -> None:  # fmt: skip
        self._shared = shared
        self._blocks = [_Blocks(params.history_depth) for _ in range(threads)]
        self._levels = {size: _Level(size, self._blocks, self._shared) for size in cache_bytes}
        self._most, self._interval = params.block_instructions, interval
        self._committed, self._is_due = [0] * threads, False
        #: Threads whose caches nothing but repetitions has used since the last checkpoint.
        self._cleaned: set[int] = set()
        self.counts = LineCounts(
            threads=threads, caches={size: each.counts for size, each in self._levels.items()}
        )

    def play(self, rows: Iterator[tuple[int, ...]]) -> None:
        """Some events, in order."""
        accesses = [level.coherent.access for level in self._levels.values()]
        for (
            thread, instructions, acts, ends, collected, is_access, is_kept, is_write, first, last,
            is_repeated,
        ) in rows:  # fmt: skip
            if self._is_due and (instructions or acts):
                self._take_checkpoint()
            self._committed[thread] += instructions
            if self._committed[thread] >= self._interval:
                self._is_due = True
            blocks = self._blocks[thread]
            if collected:
                self._count(thread, blocks, instructions, bool(acts))
            if ends:
                self.end_block(thread)
            if is_access and (not is_repeated or (is_write and thread in self._cleaned)):
                self._cleaned.discard(thread)
                for number in (first,) if first == last else (first, last):
                    for access in accesses:
                        access(thread, number, bool(is_write))
            if is_kept:
                blocks.lines.add(first)
                blocks.lines.add(last)
                if blocks.instructions >= self._most:
                    self.end_block(thread)

    def _count(self, thread: int, blocks: _Blocks, instructions: int, acts: bool) -> None:
        """Instructions of a thread, in as many core events as they take."""
        while instructions > (MAX_INSTRUCTIONS if acts else 0):
            share = min(instructions, MAX_INSTRUCTIONS)
            instructions -= share
            blocks.instructions += share
            if blocks.instructions >= self._most:
                self.end_block(thread)
        blocks.instructions += instructions

    def end_block(self, thread: int) -> None:
        """End the block of a thread; an empty one is not sent."""
        blocks = self._blocks[thread]
        blocks.instructions = 0
        if not blocks.lines:
            return
        self.counts.blocks += 1
        self.counts.lines += len(blocks.lines)
        self.counts.shared_lines += len(blocks.lines & self._shared)
        displaced = blocks.push()
        self.counts.displaced_lines += len(displaced)
        gone = [number for number in displaced if not blocks.held[number]]
        for level in self._levels.values():
            level.forget(thread, gone)

    def _take_checkpoint(self) -> None:
        for thread in range(len(self._blocks)):
            self.end_block(thread)
        for blocks in self._blocks:
            blocks.flush()
        for level in self._levels.values():
            level.take_checkpoint()
        self.counts.checkpoints += 1
        self._committed = [0] * len(self._committed)
        self._cleaned.update(range(len(self._blocks)))
        self._is_due = False
