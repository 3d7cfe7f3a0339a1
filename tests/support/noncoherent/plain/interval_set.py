"""Interval set: disjoint runs of bytes, each with the operation that put it there, without limit.

Neighbouring runs from the same place of the program are one run: the set is as large as what it
describes, not as the number of operations.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from racetrap.golden_model.noncoherent.races import Origin


class Run(NamedTuple):
    """Bytes of a set from ``first`` to ``last``, both included."""

    first: int
    last: int
    origin: Origin


class ByteSet(Protocol):
    """What the detectors need of a set of bytes; a bounded one may say more than was put in."""

    def overlaps(self, first: int, last: int) -> list[Run]:
        """Runs that meet the bytes from ``first`` to ``last``, cut to them, ascending."""

    def add(self, first: int, last: int, origin: Origin) -> None:
        """Put bytes in; those that were in before change their origin."""

    def remove(self, first: int, last: int) -> None:
        """Take bytes out."""

    def clear(self) -> None:
        """Take all bytes out."""


class IntervalSet:
    """The plain set: three sorted lists, searched by bisection."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._origins: list[Origin] = []

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._firsts)

    def __iter__(self) -> Iterator[Run]:
        return map(Run, self._firsts, self._lasts, self._origins)

    def overlaps(self, first: int, last: int) -> list[Run]:
        """Runs that meet the bytes from ``first`` to ``last``, cut to them, ascending."""
        begin, end = bisect_left(self._lasts, first), bisect_right(self._firsts, last)
        return [
            Run(max(self._firsts[at], first), min(self._lasts[at], last), self._origins[at])
            for at in range(begin, end)
        ]

    def remove(self, first: int, last: int) -> None:
        """Take bytes out."""
        begin, end = bisect_left(self._lasts, first), bisect_right(self._firsts, last)
        if begin >= end:
            return
        left, right = self._firsts[begin], self._lasts[end - 1]
        kept = [
            *([Run(left, first - 1, self._origins[begin])] if left < first else []),
            *([Run(last + 1, right, self._origins[end - 1])] if right > last else []),
        ]
        self._replace(begin, end, kept)

    def add(self, first: int, last: int, origin: Origin) -> None:
        """Put bytes in; those that were in before change their origin."""
        self.remove(first, last)
        begin = end = bisect_left(self._firsts, first)
        if begin and self._lasts[begin - 1] == first - 1 and self._is_of(begin - 1, origin):
            begin -= 1
            first, origin = self._firsts[begin], max(origin, self._origins[begin])
        if end < len(self) and self._firsts[end] == last + 1 and self._is_of(end, origin):
            last, origin = self._lasts[end], max(origin, self._origins[end])
            end += 1
        self._replace(begin, end, [Run(first, last, origin)])

    def clear(self) -> None:
        """Take all bytes out."""
        self._replace(0, len(self), [])

    def _is_of(self, at: int, origin: Origin) -> bool:
        return self._origins[at].place == origin.place

    def _replace(self, begin: int, end: int, runs: list[Run]) -> None:
        self._firsts[begin:end] = [run.first for run in runs]
        self._lasts[begin:end] = [run.last for run in runs]
        self._origins[begin:end] = [run.origin for run in runs]
