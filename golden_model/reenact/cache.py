"""L1 caches with the timestamps of W-ReEnact in every word, kept coherent by MESI.

Ref: SigRace (ISCA'09) Sections 2.2, 5.1, 5.4 and 5.5, Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

#: Bytes of a line (Table 4), and associativity, which the paper does not give.
LINE_BYTES, WAYS = 64, 4


class Line:
    """A cached line.

    Attributes
    ----------
    is_alone : bool
        No other cache has the line (states M and E of MESI; otherwise S).
    is_dirty : bool
        Memory has an older value (state M).
    reads, writes : dict of int to (int, int)
        Timestamps of its words, by granule number: thread and epoch of the last read and write.
    """

    __slots__ = ("is_alone", "is_dirty", "reads", "writes")

    def __init__(self, is_alone: bool) -> None:
        self.is_alone = is_alone
        self.is_dirty = False
        self.reads: dict[int, tuple[int, int]] = {}
        self.writes: dict[int, tuple[int, int]] = {}


class Cache:
    """Set-associative cache with LRU replacement; only what decides on timestamps is modelled.

    Parameters
    ----------
    sets, ways : int
        Size in lines.
    """

    def __init__(self, sets: int, ways: int) -> None:
        self._ways = ways
        self._sets: list[dict[int, Line]] = [{} for _ in range(sets)]  # oldest use first

    def find(self, number: int) -> Line | None:
        """The line, if it is cached; this does not count as a use."""
        return self._sets[number % len(self._sets)].get(number)

    def use(self, number: int) -> Line | None:
        """The line, if it is cached, now the most recently used one."""
        lines = self._sets[number % len(self._sets)]
        line = lines.pop(number, None)
        if line is not None:
            lines[number] = line
        return line

    def displace(self, number: int) -> tuple[int, Line] | None:
        """Make room for a line: the least recently used one leaves its set, if that is full."""
        lines = self._sets[number % len(self._sets)]
        if len(lines) < self._ways:
            return None
        oldest = next(iter(lines))
        return oldest, lines.pop(oldest)

    def fill(self, number: int, is_alone: bool) -> Line:
        """A new line, for which there is room."""
        line = self._sets[number % len(self._sets)][number] = Line(is_alone)
        return line

    def invalidate(self, number: int) -> None:
        """Drop a line with its timestamps, if it is cached."""
        self._sets[number % len(self._sets)].pop(number, None)

    def forget(self, first: int, end: int, words: int) -> None:
        """Clear the timestamps of granules ``first`` to before ``end``; a line has ``words``."""
        for number in self._cached(first // words, -(-end // words)):
            line = self._sets[number % len(self._sets)][number]
            for stamps in (line.reads, line.writes):
                for granule in [g for g in stamps if first <= g < end]:
                    del stamps[granule]

    def clean(self) -> list[int]:
        """Dirty lines, whose values memory has now."""
        dirty = []
        for lines in self._sets:
            for number, line in lines.items():
                if line.is_dirty:
                    line.is_dirty = False
                    dirty.append(number)
        return dirty

    def _cached(self, first: int, end: int) -> list[int]:
        """Cached lines among ``first`` to before ``end``."""
        if end - first < len(self._sets):
            return [number for number in range(first, end) if self.find(number) is not None]
        return [number for lines in self._sets for number in lines if first <= number < end]


class CacheListener(Protocol):
    """Learns what the caches of all cores lose, and what memory gets."""

    def lose(self, core: int, number: int) -> None:
        """A line has been displaced from a core's cache, or invalidated there."""

    def write_back(self, number: int) -> None:
        """The value of a dirty line goes to memory."""


class CoherentCaches:
    """Caches of all cores, kept coherent by MESI.

    A dirty line goes to memory when it is displaced, and when another core reads it; then both
    have clean copies.  A core that writes to another one's dirty line takes over its value, without
    memory.

    Parameters
    ----------
    cores, sets, ways : int
        Caches, and the size of each in lines.
    listener : CacheListener, optional
        Who wants to know what is lost and written back.
    """

    def __init__(
        self, cores: int, sets: int, ways: int, listener: CacheListener | None = None
    ) -> None:
        self.caches = [Cache(sets, ways) for _ in range(cores)]
        self._listener = listener

    def access(self, core: int, number: int, is_write: bool) -> tuple[Line, Sequence[Line]]:
        """A core reads or writes a line.

        Returns
        -------
        line : Line
            The line in its cache.
        met : sequence of Line
            Copies in other caches, if the access is a coherence action: it misses, or writes to a
            line that is not alone.
        """
        cache = self.caches[core]
        line = cache.use(number)
        met: Sequence[Line] = ()
        if line is None or (is_write and not line.is_alone):
            met = self._others(core, number, is_write)
        if line is None:
            self._make_room(core, number)
            line = cache.fill(number, is_write or not met)
        if is_write:
            line.is_alone = line.is_dirty = True
        return line, met

    def _make_room(self, core: int, number: int) -> None:
        displaced = self.caches[core].displace(number)
        if displaced is not None and self._listener is not None:
            oldest, line = displaced
            if line.is_dirty:
                self._listener.write_back(oldest)
            self._listener.lose(core, oldest)

    def _others(self, core: int, number: int, is_write: bool) -> list[Line]:
        """Copies in other caches, which a write invalidates."""
        met = []
        for other, cache in enumerate(self.caches):
            if other == core or (copy := cache.find(number)) is None:
                continue
            met.append(copy)
            copy.is_alone = False
            if is_write:
                cache.invalidate(number)
                if self._listener is not None:
                    self._listener.lose(other, number)
            elif copy.is_dirty:
                copy.is_dirty = False
                if self._listener is not None:
                    self._listener.write_back(number)
        return met
