"""Array operations that NumPy does not have: groups of rows, runs, ranges and bit counts."""

from __future__ import annotations

import numpy as np


def run_starts(*columns: np.ndarray) -> np.ndarray:
    """Positions at which any of the columns differs from the position before."""
    starts = np.ones(len(columns[0]), dtype=bool)
    if len(starts):
        starts[1:] = False
        for column in columns:
            starts[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(starts)


def group_numbers(*keys: np.ndarray) -> np.ndarray:
    """A number for each row, the same for rows with the same keys."""
    numbers = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        values, inverse = np.unique(key, return_inverse=True)
        _, numbers = np.unique(numbers * len(values) + inverse, return_inverse=True)
    return numbers


def running_sums(group: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Sum of the steps of each row's group, up to and including the row."""
    order = np.argsort(group, kind="stable")
    ordered = step[order]
    total = np.cumsum(ordered)
    starts = run_starts(group[order])
    before = total[starts] - ordered[starts]
    sums = np.empty_like(total)
    sums[order] = total - np.repeat(before, np.diff(starts, append=len(order)))
    return sums


def ranges(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The numbers ``first``, ``first + 1`` and so on, ``counts`` of them, of all rows in turn."""
    starts = np.cumsum(counts) - counts
    numbers: np.ndarray = np.repeat(first - starts, counts) + np.arange(counts.sum())
    return numbers


def bit_counts(masks: np.ndarray) -> np.ndarray:
    """Number of set bits of each 32-bit mask."""
    octets = np.ascontiguousarray(masks, dtype="<u4").view(np.uint8).reshape(-1, 4)
    counts: np.ndarray = _BITS_OF_OCTET[octets].sum(axis=1, dtype=np.int64)
    return counts


_BITS_OF_OCTET = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)
