"""L1 caches with the timestamps of W-ReEnact in every word, kept coherent.

Ref: SigRace (ISCA'09) Sections 2.2, 5.1 and 5.4.1, Table 4.
"""

from __future__ import annotations


class Line:
    """A cached line.

    Attributes
    ----------
    is_alone : bool
        No other cache has the line (states M and E of MESI; otherwise S).
    reads, writes : dict of int to (int, int)
        Timestamps of its words, by granule number: thread and epoch of the last read and write.
    """

    __slots__ = ("is_alone", "reads", "writes")

    def __init__(self, is_alone: bool) -> None:
        self.is_alone = is_alone
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

    def fill(self, number: int, is_alone: bool) -> Line:
        """A new line, which displaces the least recently used one of its set."""
        lines = self._sets[number % len(self._sets)]
        if len(lines) == self._ways:
            del lines[next(iter(lines))]
        line = lines[number] = Line(is_alone)
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

    def _cached(self, first: int, end: int) -> list[int]:
        """Cached lines among ``first`` to before ``end``."""
        if end - first < len(self._sets):
            return [number for number in range(first, end) if self.find(number) is not None]
        return [number for lines in self._sets for number in lines if first <= number < end]
