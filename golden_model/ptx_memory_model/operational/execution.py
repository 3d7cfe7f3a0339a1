"""Execution: reads and writes of one run, and whether sequentially consistent memory allows it.

It does if program order, barriers, reads-from, coherence and from-reads together have no cycle:
then any order that includes them is an interleaving in which each load takes the newest value.

Ref: Shasha and Snir, "Efficient and Correct Execution of Parallel Programs that Share Memory"
(TOPLAS 1988); Alglave et al., "Herding Cats" (TOPLAS 2014), Section 4.8, for the relations.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from racetrap.golden_model.ptx_memory_model.events import Location

#: Position in the coherence order of all locations that have a byte in common.
Moment = tuple[float, float]
#: Bytes of the units into which locations are split, if all are multiples of it.
_WORD = 4


class Operation:
    """An operation of a thread.

    Parameters
    ----------
    thread : int
        Its thread.
    location : Location, optional
        What it accesses; None for a barrier.

    Attributes
    ----------
    reads : Moment or Operation, optional
        It reads the latest write up to this moment, or that of an operation.
    writes : Moment, optional
        Moment of its write.
    """

    __slots__ = ("location", "reads", "thread", "writes")

    def __init__(self, thread: int, location: Location | None = None) -> None:
        self.thread, self.location = thread, location
        self.reads: Moment | Operation | None = None
        self.writes: Moment | None = None


class Execution:
    """Operations of one run, each thread's in program order."""

    def __init__(self) -> None:
        self._threads: defaultdict[int, list[Operation]] = defaultdict(list)
        self._barriers: list[tuple[Sequence[Operation], Sequence[Operation]]] = []

    def add(self, thread: int, location: Location | None = None) -> Operation:
        """The next operation of a thread."""
        operation = Operation(thread, location)
        self._threads[thread].append(operation)
        return operation

    def meet(self, arrived: Sequence[Operation], threads: Sequence[int]) -> None:
        """Order threads after a barrier at which some have arrived."""
        self._barriers.append((arrived, [self.add(thread) for thread in threads]))

    def is_sequentially_consistent(self) -> bool:
        """Whether sequentially consistent memory has an execution with the same values."""
        order: TopologicalSorter[object] = TopologicalSorter()
        for operations in self._threads.values():
            for one, other in itertools.pairwise(operations):
                order.add(other, one)
        for number, (arrived, left) in enumerate(self._barriers):
            order.add(number, *arrived)
            for operation in left:
                order.add(operation, number)
        for one, other in self._conflicts():
            if one is not other:
                order.add(other, one)
        try:
            order.prepare()
        except CycleError:
            return False
        return True

    def _conflicts(self) -> Iterator[tuple[Operation, Operation]]:
        """Pairs of operations of which the first precedes the other in memory."""
        writes: defaultdict[int, list[tuple[Moment, Operation]]] = defaultdict(list)
        reads: defaultdict[int, list[tuple[Moment, Operation]]] = defaultdict(list)
        for operation, units in self._units():
            if operation.writes is not None:
                for unit in units:
                    writes[unit].append((operation.writes, operation))
            read = operation.reads
            if isinstance(read, Operation):
                read = read.writes
            if read is not None:
                for unit in units:
                    reads[unit].append((read, operation))
        for unit, written in writes.items():
            written.sort(key=_moment)
            for (_, one), (_, other) in itertools.pairwise(written):
                yield one, other
            for moment, operation in reads[unit]:
                place = bisect_right(written, moment, key=_moment)
                if place:
                    yield written[place - 1][1], operation
                if place < len(written):
                    yield operation, written[place][1]

    def _units(self) -> Iterator[tuple[Operation, range]]:
        """Operations on memory, with their units: words or bytes."""
        found = [
            (operation, operation.location)
            for operations in self._threads.values()
            for operation in operations
            if operation.location is not None
        ]
        whole = all(not (at.address % _WORD or at.size % _WORD) for _, at in found)
        unit = _WORD if whole else 1
        for operation, at in found:
            yield operation, range(at.address // unit, (at.address + at.size) // unit)


def _moment(entry: tuple[Moment, Operation]) -> Moment:
    return entry[0]
