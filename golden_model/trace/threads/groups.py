"""Rows of arrays in groups: what happens to one object, or what one thread does to it."""

from __future__ import annotations

import numpy as np

__all__ = ["group_numbers", "running_sums"]


def group_numbers(*keys: np.ndarray) -> np.ndarray:
    """A number for each row, the same for rows with the same keys."""
    numbers = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        values, inverse = np.unique(key, return_inverse=True)
        _, numbers = np.unique(numbers * len(values) + inverse, return_inverse=True)
    return numbers


def running_sums(group: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Sum of the steps of each row's group, up to and with the row."""
    order = np.argsort(group, kind="stable")
    group, step = group[order], step[order]
    total = np.cumsum(step)
    first = np.searchsorted(group, group)
    sums = np.empty_like(total)
    sums[order] = total - (total - step)[first]
    return sums
