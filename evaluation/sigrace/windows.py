"""Windows of the NumPy engine: the search of every message in every queue, for any depth.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.3, Fig. 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.golden_model.arrays import ranges

__all__ = [
    "Pairs",
    "Searches",
    "WindowFigures",
    "make_searches",
    "unordered_pairs",
    "window_figures",
]

#: Pairs made at a time; bounds the memory.
_CHUNK_PAIRS = 1 << 18


class Searches(NamedTuple):
    """Each message with each other thread's queue, message by message, threads ascending.

    Blocks of the other thread are counted from the start of the program, in order.

    Parameters
    ----------
    message, other : ndarray of int64, one for each search
        Number of the message's block, and the thread whose queue is searched.
    arrived : ndarray of int64
        Blocks of the other thread that have arrived.
    flushed : ndarray of int64
        Those of them that were flushed at the last checkpoint.
    ordered : ndarray of int64
        Those of them that happened before the message's block.
    blocks : list of ndarray
        Numbers of the blocks of each thread.
    """

    message: np.ndarray
    other: np.ndarray
    arrived: np.ndarray
    flushed: np.ndarray
    ordered: np.ndarray
    blocks: list[np.ndarray]

    def oldest(self, depth: int | None) -> np.ndarray:
        """First block of the other thread that its queue has when searched."""
        if depth is None:
            return self.flushed
        return np.maximum(self.flushed, self.arrived - depth)


class Pairs(NamedTuple):
    """Unordered pairs of blocks in the order in which the RDM intersects them.

    Parameters
    ----------
    message, entry : ndarray of int64
        Block of the message, and block in the queue.
    """

    message: np.ndarray
    entry: np.ndarray


@dataclass(frozen=True)
class WindowFigures:
    """One point of Fig. 8.

    Parameters
    ----------
    searches, hits, lost : int
        Searches of a message in a queue, those that found a predecessor, and those that went
        through a full queue without one.
    comparisons : int
        Timestamps compared.
    lost_window : float
        Mean share of the checkpoint interval of which the races with a message could not be
        found any more: from the checkpoint to the block before the oldest entry.
    """

    searches: int
    hits: int
    lost: int
    comparisons: int
    lost_window: float

    @property
    def hit_rate(self) -> float:
        """Share of the searches that found a predecessor."""
        return self.hits / self.searches if self.searches else 0.0

    @property
    def lost_rate(self) -> float:
        """Share of the searches that lost a window; the rest met a queue not yet full."""
        return self.lost / self.searches if self.searches else 0.0

    @property
    def comparisons_per_search(self) -> float:
        """Mean comparisons of a message with a queue."""
        return self.comparisons / self.searches if self.searches else 0.0


def make_searches(execution: Execution, blocks: Blocks) -> Searches:
    """Searches of all messages, with what decides on their outcome."""
    clocks = execution.clocks
    count, threads = len(blocks.thread), len(clocks.first)
    numbers = [np.flatnonzero(blocks.thread == thread) for thread in range(threads)]
    rows = clocks.first[blocks.thread] + blocks.epoch
    arrived, flushed, ordered = (np.empty((count, threads), np.int64) for _ in range(3))
    for other, mine in enumerate(numbers):
        arrived[:, other] = np.searchsorted(mine, np.arange(count))
        flushed[:, other] = np.searchsorted(blocks.interval[mine], blocks.interval)
        known = clocks.matrix[rows, other]
        ordered[:, other] = np.searchsorted(blocks.epoch[mine], known)
    is_other = np.arange(threads) != blocks.thread[:, None]
    message, searched = np.nonzero(is_other)
    return Searches(
        message, searched, arrived[is_other], flushed[is_other], ordered[is_other], numbers
    )


def unordered_pairs(searches: Searches, depth: int | None) -> Iterator[Pairs]:
    """Unordered pairs with queues of so many entries (None: of all since the checkpoint)."""
    first = np.maximum(searches.oldest(depth), searches.ordered)
    counts = np.maximum(searches.arrived - first, 0)
    ends = np.cumsum(counts)
    flat = np.concatenate([*searches.blocks, np.zeros(0, np.int64)])
    offsets = np.append(0, np.cumsum([len(numbers) for numbers in searches.blocks]))
    for start, stop in _chunks(ends):
        size = counts[start:stop]
        back = ranges(np.zeros_like(size), size)
        newest = (offsets[searches.other] + searches.arrived - 1)[start:stop]
        entry = flat[np.repeat(newest, size) - back]
        yield Pairs(np.repeat(searches.message[start:stop], size), entry)


def _chunks(ends: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of searches with a bounded number of pairs, or one search."""
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(_CHUNK_PAIRS, total, _CHUNK_PAIRS), side="right")
    yield from pairwise(np.unique([0, *cuts.tolist(), len(ends)]).tolist())


def _lost(searches: Searches, depth: int | None) -> np.ndarray:
    """Which searches go through a full queue without finding a predecessor."""
    oldest = searches.oldest(depth)
    full = np.full(len(oldest), False) if depth is None else searches.arrived - oldest == depth
    return full & (searches.ordered <= oldest)


def window_figures(
    execution: Execution, blocks: Blocks, searches: Searches, depth: int | None
) -> WindowFigures:
    """Lost window, hits and comparisons with queues of ``depth`` entries (None: no limit)."""
    oldest, is_lost = searches.oldest(depth), _lost(searches, depth)
    is_hit = searches.ordered > oldest
    left = searches.arrived - np.where(is_hit, searches.ordered - 1, oldest)
    share = np.zeros(len(is_hit))
    interval = blocks.interval[searches.message]
    for other, numbers in enumerate(searches.blocks):
        gone = np.flatnonzero(is_lost & (searches.other == other) & (oldest > searches.flushed))
        committed = blocks.committed[numbers[oldest[gone] - 1]]
        share[gone] = committed / execution.interval_lengths[interval[gone]]
    return WindowFigures(
        searches=len(is_hit),
        hits=int(is_hit.sum()),
        lost=int(is_lost.sum()),
        comparisons=int(left.sum()),
        lost_window=float(share.mean()) if len(share) else 0.0,
    )
