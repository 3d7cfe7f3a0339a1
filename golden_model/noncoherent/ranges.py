"""Ranges of bytes: ascending, disjoint pairs of first and last byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Ranges = list[tuple[int, int]]


def widen(ranges: Iterable[tuple[int, int]], unit: int) -> Ranges:
    """The aligned blocks of ``unit`` bytes, a power of two, that ``ranges`` touch."""
    wide: Ranges = []
    for first, last in ranges:
        first, last = first & -unit, last | (unit - 1)
        if wide and first <= wide[-1][1] + 1:
            wide[-1] = (wide[-1][0], last)
        else:
            wide.append((first, last))
    return wide


def common(ranges: Iterable[tuple[int, int]], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Parts of ``ranges`` from ``first`` to ``last``."""
    for low, high in ranges:
        if low <= last and high >= first:
            yield max(low, first), min(high, last)
