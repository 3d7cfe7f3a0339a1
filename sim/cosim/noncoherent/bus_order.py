"""Order in which a monitor has taken operations of the CPU and of an observed bus.

The hardware chooses it, and loses cycles of the bus that find its queue full.  Both show in the
rows that it has checked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from racetrap.golden_model.noncoherent.packets import Row
from racetrap.sim.cosim.comparison.mismatch import Mismatch


class BusRows(NamedTuple):
    """What a cycle of the bus should give.

    Parameters
    ----------
    cycle : int
        Number of the cycle.
    rows : list of Row
        Rows of its operations.
    bursts : int
        How many of them are bursts.
    """

    cycle: int
    rows: list[Row]
    bursts: int


class _Place(NamedTuple):
    """Steps, operations and bus cycles that have been gone through, cycles that were taken, and
    bursts of the others."""

    step: int = 0
    operation: int = 0
    cycle: int = 0
    taken: int = 0
    lost: int = 0


class BusOrder:
    """A merge of both sources that gives the rows of all steps.

    Rows of an operation, and those of a cycle of the bus, come one after another.  Some rows may be
    of either source: then a choice that fails later is made again.

    Parameters
    ----------
    depth : int
        Cycles of the bus that must be waiting when one is lost.
    operations : sequence of list of Row
        Rows of each operation of the CPU that has any.
    bus : sequence of BusRows
        Cycles of the bus, in order.
    found : sequence of Row
        Rows of the steps.
    cycles : sequence of int
        Cycle of each step.
    """

    def __init__(
        self, depth: int, operations: Sequence[list[Row]], bus: Sequence[BusRows],
        found: Sequence[Row], cycles: Sequence[int],
    ) -> None:  # fmt: skip
        self._depth, self._operations, self._bus = depth, operations, bus
        self._found, self._cycles = found, cycles
        self._ends: list[int] = []  # of the bus cycles that were taken: cycle of the last step

    def lost(self) -> int:
        """Bursts that were lost.

        Raises
        ------
        Mismatch
            If no order gives the rows that were found.
        """
        furthest = _Place()
        stack = [(furthest, self._next(furthest))]
        while stack:
            place, choices = stack[-1]
            if self._is_end(place):
                return place.lost + self._bursts(place.cycle, len(self._bus))
            furthest = max(furthest, place)
            following = next(choices, None)
            if following is None:
                stack.pop()
                continue
            if following.taken > place.taken:
                del self._ends[place.taken :]
                self._ends.append(self._cycles[following.step - 1])
            stack.append((following, self._next(following)))
        raise Mismatch(self._sentence(furthest))

    def _next(self, place: _Place) -> Iterator[_Place]:
        """Places to go on from one: the bus goes first, a lost cycle is the last that is thought
        of."""
        if place.cycle < len(self._bus) and self._fits(place, self._bus[place.cycle]):
            yield self._behind(place, place.cycle)
        if place.operation < len(self._operations):
            rows = self._operations[place.operation]
            if self._matches(place.step, rows):
                yield place._replace(step=place.step + len(rows), operation=place.operation + 1)
        for number in range(place.cycle + 1, len(self._bus)):
            if not self._may_be_lost(number - 1, place.taken):
                return
            if self._fits(place, self._bus[number]):
                yield self._behind(place, number)

    def _behind(self, place: _Place, number: int) -> _Place:
        step = place.step + len(self._bus[number].rows)
        lost = place.lost + self._bursts(place.cycle, number)
        return _Place(step, place.operation, number + 1, place.taken + 1, lost)

    def _bursts(self, first: int, end: int) -> int:
        return sum(each.bursts for each in self._bus[first:end])

    def _fits(self, place: _Place, seen: BusRows) -> bool:
        return self._matches(place.step, seen.rows) and seen.cycle < self._cycles[place.step]

    def _matches(self, step: int, rows: list[Row]) -> bool:
        return self._found[step : step + len(rows)] == rows

    def _may_be_lost(self, number: int, taken: int) -> bool:
        """Whether so many of the cycles taken before may not have left the queue."""
        return taken - bisect_left(self._ends, self._bus[number].cycle, 0, taken) >= self._depth

    def _is_end(self, place: _Place) -> bool:
        return (
            place.step == len(self._found)
            and place.operation == len(self._operations)
            and all(
                self._may_be_lost(number, place.taken)
                for number in range(place.cycle, len(self._bus))
            )
        )

    def _sentence(self, place: _Place) -> str:
        own = self._operations[place.operation : place.operation + 1]
        of_bus = self._bus[place.cycle : place.cycle + 1]
        found = self._found[place.step] if place.step < len(self._found) else "missing"
        return (
            f"Step {place.step} must be of {own or 'no operation'} or of {of_bus or 'no burst'}, "
            f"not {found}"
        )
