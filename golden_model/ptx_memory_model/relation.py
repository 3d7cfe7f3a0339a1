"""Binary relations over the events of an execution, as one row of bits for each event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def bits_of(mask: int) -> Iterator[int]:
    """Numbers of the bits that are set, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Relation:
    """Set of ordered pairs of events, which are numbered from 0.  Immutable.

    Parameters
    ----------
    rows : iterable of int
        For each event the set of those it precedes, one bit each.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows = tuple(rows)

    @classmethod
    def empty(cls, size: int) -> Relation:
        """No pair, among ``size`` events."""
        return cls((0,) * size)

    @classmethod
    def of(cls, size: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        """The given pairs, among ``size`` events."""
        rows = [0] * size
        for first, second in pairs:
            rows[first] |= 1 << second
        return cls(rows)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        first, second = pair
        return bool(self.rows[first] >> second & 1)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for first, row in enumerate(self.rows):
            for second in bits_of(row):
                yield first, second

    def __bool__(self) -> bool:
        return any(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relation) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return f"Relation({list(self)})"

    def __or__(self, other: Relation) -> Relation:
        return Relation([a | b for a, b in zip(self.rows, other.rows, strict=True)])

    def __and__(self, other: Relation) -> Relation:
        return Relation([a & b for a, b in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Relation) -> Relation:
        return Relation([a & ~b for a, b in zip(self.rows, other.rows, strict=True)])

    def then(self, other: Relation) -> Relation:
        """Composition: pairs (a, c) with (a, b) here and (b, c) in ``other``."""
        rows = []
        for row in self.rows:
            reached = 0
            for middle in bits_of(row):
                reached |= other.rows[middle]
            rows.append(reached)
        return Relation(rows)

    def inverse(self) -> Relation:
        """All pairs reversed."""
        return Relation.of(len(self.rows), ((second, first) for first, second in self))

    def closure(self) -> Relation:
        """Transitive closure."""
        rows = list(self.rows)
        for middle, bit in enumerate([1 << number for number in range(len(rows))]):
            if reached := rows[middle]:
                for number, row in enumerate(rows):
                    if row & bit:
                        rows[number] = row | reached
        return Relation(rows)

    def within(self, firsts: int, seconds: int) -> Relation:
        """Pairs whose first event is in the set ``firsts`` and whose second is in ``seconds``."""
        return Relation(
            [row & seconds if firsts >> number & 1 else 0 for number, row in enumerate(self.rows)]
        )

    def loops(self) -> list[int]:
        """Events that precede themselves."""
        return [number for number, row in enumerate(self.rows) if row >> number & 1]

    def path(self, start: int, end: int) -> list[int]:
        """Shortest path from ``start`` to ``end`` along pairs; empty if none.

        With ``start`` equal to ``end``, the shortest cycle through it.
        """
        came_from: dict[int, int] = {}
        reached = [start]
        for event in reached:
            for following in bits_of(self.rows[event]):
                if following in came_from:
                    continue
                came_from[following] = event
                if following == end:
                    way = [end]
                    while len(way) == 1 or way[-1] != start:
                        way.append(came_from[way[-1]])
                    return way[::-1]
                reached.append(following)
        return []
