"""Unordered pairs of accesses, found as intervals of epochs.

The epochs of one thread that are concurrent with a given epoch of another are contiguous, so all
pairs of two instructions on one granule need one search per epoch, not per pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.accesses import SharedAccesses
from racetrap.golden_model.happens_before.clocks import EpochClocks
from racetrap.golden_model.trace.container.arrays import ranges, run_starts

#: Rows searched at a time; bounds the memory.
_CHUNK_ROWS = 1 << 20


class Intervals(NamedTuple):
    """Rows of one group that are unordered with a row of another.

    Parameters
    ----------
    row, group : ndarray of int64
        A row, and its group.
    low, high : ndarray of int64
        Rows ``low`` up to but not including ``high`` are unordered with it.
    other : ndarray of int64
        Group of these.
    """

    row: np.ndarray
    group: np.ndarray
    low: np.ndarray
    high: np.ndarray
    other: np.ndarray


def unordered_pairs(accesses: SharedAccesses, clocks: EpochClocks) -> Iterator[Intervals]:
    """All unordered pairs, at least one of them a write and not both atomic, each once.

    Empty intervals are left out.  Pairs of a location are adjacent, locations ascending.
    """
    sizes = np.diff(accesses.first)
    for one, other in _group_pairs(accesses):
        swap = sizes[one] > sizes[other]  # search with the rows of the smaller group
        group, partner = np.where(swap, other, one), np.where(swap, one, other)
        ends = np.cumsum(sizes[group])
        start = 0
        while start < len(group):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _CHUNK_ROWS)))
            yield _search(accesses, clocks, group[start:stop], partner[start:stop])
            start = stop


def _group_pairs(accesses: SharedAccesses) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of groups of one location that can race; the first group is the smaller number."""
    location = accesses.location
    ends = np.searchsorted(location, location, side="right")
    partners = ends - np.arange(len(location)) - 1
    totals = np.cumsum(partners)
    start = 0
    while start < len(location):
        done = totals[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(totals, done + _CHUNK_ROWS)))
        stop = int(ends[stop - 1])  # whole locations
        counts = partners[start:stop]
        one = np.repeat(np.arange(start, stop), counts)
        other = ranges(np.arange(start, stop) + 1, counts)
        can_race = accesses.thread[one] != accesses.thread[other]
        can_race &= accesses.is_write[one] | accesses.is_write[other]
        can_race &= ~(accesses.is_atomic[one] & accesses.is_atomic[other])
        yield one[can_race], other[can_race]
        start = stop


def _search(
    accesses: SharedAccesses, clocks: EpochClocks, group: np.ndarray, other: np.ndarray
) -> Intervals:
    """Intervals of the rows of each group in the paired group."""
    sizes = (accesses.first[1:] - accesses.first[:-1])[group]
    row = ranges(accesses.first[group], sizes)
    group, other = np.repeat(group, sizes), np.repeat(other, sizes)
    mine, theirs = accesses.thread[group], accesses.thread[other]
    # Epochs below this one of the other thread precede the row ...
    begin = clocks.matrix[clocks.first[mine] + accesses.known[row], theirs].astype(np.int64)
    # ... and those that know the row's epoch follow it.
    end = _first_knowing(clocks, theirs, mine, accesses.epoch[row])
    low = _first_row(accesses, accesses.epoch, other, begin)
    high = _first_row(accesses, accesses.known, other, end)
    kept = low < high
    return Intervals(row[kept], group[kept], low[kept], high[kept], other[kept])


def _first_knowing(
    clocks: EpochClocks, threads: np.ndarray, of: np.ndarray, epochs: np.ndarray
) -> np.ndarray:
    """First epoch of each thread whose clock is past the given epoch of thread ``of``."""
    result = np.empty(len(threads), np.int64)
    count = len(clocks.first)
    bounds = np.append(clocks.first, len(clocks.matrix))
    pair = threads * count + of
    order = np.argsort(pair, kind="stable")
    for part in np.split(order, run_starts(pair[order])[1:]):
        if len(part):
            thread, other = divmod(int(pair[part[0]]), count)
            column = clocks.matrix[bounds[thread] : bounds[thread + 1], other]
            result[part] = np.searchsorted(column, epochs[part], side="right")
    return result


def _first_row(
    accesses: SharedAccesses, column: np.ndarray, groups: np.ndarray, epochs: np.ndarray
) -> np.ndarray:
    """First row of each group whose value in ``column`` is at least the epoch given."""
    low, high = accesses.first[groups], accesses.first[groups + 1]
    while (open_ := np.flatnonzero(low < high)).size:  # a binary search in all groups at once
        middle = (low[open_] + high[open_]) >> 1
        is_less = column[middle] < epochs[open_]
        low[open_] = np.where(is_less, middle + 1, low[open_])
        high[open_] = np.where(is_less, high[open_], middle)
    return low
