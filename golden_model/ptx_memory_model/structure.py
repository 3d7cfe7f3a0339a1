"""Event structure: the events of an execution, and all relations that do not depend on reads-from.

Ref: PTX ISA 9.0, Sections 8.2.1 (Overlap), 8.2.6 (Initialization), 8.7 (Morally strong
operations), 8.8 (Release and Acquire Patterns), 8.9.1 (Program Order).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD, Event, EventKind, Order
from racetrap.golden_model.ptx_memory_model.relation import Relation
from racetrap.golden_model.ptx_memory_model.scopes import Place, includes


class Synchronization(NamedTuple):
    """A release pattern and an acquire pattern that synchronise if ``read`` observes ``write``.

    Parameters
    ----------
    first, write : int
        First operation of the release pattern, and its write (the same in a release operation).
    read, last : int
        Read of the acquire pattern, and its last operation.
    """

    first: int
    write: int
    read: int
    last: int


@dataclass(frozen=True, eq=False)
class EventStructure:
    """Events and the relations between them that follow from the program alone.

    Parameters
    ----------
    events : tuple of Event
        All operations, the initial writes among them, numbered from 0.
    places : tuple of Place
        Where each thread runs.
    program_order : Relation
        Transitive; asynchronous operations are not in it.
    barrier_order : Relation
        Barrier operations that synchronise: arrivals before waits of the same completion.
    asynchronous_order : Relation
        From an asynchronous operation to the operations that PTX orders after it.
    issue_order : Relation
        From the operations of a thread to those asynchronous ones that it issued later.  These are
        ordered, but a wait for the asynchronous operation is not thereby ordered after them.
    dependency : Relation
        From a read to the writes whose value or execution depends on it; an atomic may depend on
        itself.
    """

    events: tuple[Event, ...]
    places: tuple[Place, ...]
    program_order: Relation
    barrier_order: Relation
    asynchronous_order: Relation
    issue_order: Relation
    dependency: Relation

    def events_where(self, holds: Callable[[Event], bool]) -> int:
        """Set of the events for which ``holds``, one bit each."""
        return sum(1 << number for number, event in enumerate(self.events) if holds(event))

    @cached_property
    def writes(self) -> int:
        """Set of the write operations."""
        return self.events_where(lambda event: event.writes)

    @cached_property
    def reads(self) -> int:
        """Set of the operations that take a value from memory."""
        return self.events_where(lambda event: event.reads)

    @cached_property
    def writers(self) -> dict[int, int]:
        """Set of the writes to each byte that is written, by address."""
        writers: dict[int, int] = {}
        for number, event in enumerate(self.events):
            if event.writes and event.location is not None:
                for address in event.location.bytes:
                    writers[address] = writers.get(address, 0) | 1 << number
        return writers

    @cached_property
    def sc_fences(self) -> tuple[int, ...]:
        """The ``fence.sc`` operations."""
        return tuple(
            number
            for number, event in enumerate(self.events)
            if event.kind is EventKind.FENCE and event.order is Order.SC
        )

    def _symmetric(self, related: Callable[[int, int], bool]) -> Relation:
        """Pairs of different events for which the symmetric predicate ``related`` holds."""
        size = len(self.events)
        rows = [0] * size
        for second in range(size):
            for first in range(second):
                if related(first, second):
                    rows[first] |= 1 << second
                    rows[second] |= 1 << first
        return Relation(rows)

    @cached_property
    def overlap(self) -> Relation:
        """Pairs of different memory operations with a byte in common."""

        def overlaps(first: int, second: int) -> bool:
            one, other = self.events[first].location, self.events[second].location
            return one is not None and other is not None and one.overlaps(other)

        return self._symmetric(overlaps)

    @cached_property
    def conflict(self) -> Relation:
        """Overlapping pairs with a write."""
        everything = (1 << len(self.events)) - 1
        return self.overlap.within(self.writes, everything) | self.overlap.within(
            everything, self.writes
        )

    @cached_property
    def morally_strong(self) -> Relation:
        """Pairs of different operations that are morally strong relative to each other."""

        def related(first: int, second: int) -> bool:
            one, other = self.events[first], self.events[second]
            if one.location and other.location and one.location != other.location:
                return False
            in_program_order = (first, second) in self.program_order or (
                (second, first) in self.program_order
            )
            return in_program_order or self._include_each_other(one, other)

        return self._symmetric(related)

    def _include_each_other(self, one: Event, other: Event) -> bool:
        """Whether both are strong, and the scope of each includes the thread of the other."""
        if one.scope is None or other.scope is None:
            return False
        here, there = self.places[one.thread], self.places[other.thread]
        return includes(one.scope, here, there) and includes(other.scope, there, here)

    @cached_property
    def same_address(self) -> Relation:
        """Pairs of memory operations between which base causality is preserved: overlapping, as
        all are by the generic proxy.  Every memory operation is paired with itself."""
        size = len(self.events)
        itself = (
            (number, number) for number in range(size) if self.events[number].is_memory_operation
        )
        return self.overlap | Relation.of(size, itself)

    @cached_property
    def release_patterns(self) -> tuple[tuple[int, int], ...]:
        """First operation and write of each release pattern."""
        patterns = []
        for write, event in enumerate(self.events):
            if not (event.writes and event.is_strong):
                continue
            if event.order.releases:
                patterns.append((write, write))
            patterns += [(first, write) for first in self._beginnings(write)]
        return tuple(patterns)

    def _beginnings(self, write: int) -> list[int]:
        """Release fences, and release operations on the same location, before a strong write."""
        location = self.events[write].location
        return [
            first
            for first, event in enumerate(self.events)
            if (first, write) in self.program_order
            and event.order.releases
            and (event.kind is EventKind.FENCE or event.location == location)
        ]

    @cached_property
    def acquire_patterns(self) -> tuple[tuple[int, int], ...]:
        """Read and last operation of each acquire pattern; a reduction forms none."""
        patterns = []
        for read, event in enumerate(self.events):
            is_read = event.reads and event.kind is not EventKind.REDUCTION
            if not (is_read and event.is_strong):
                continue
            if event.order.acquires:
                patterns.append((read, read))
            patterns += [(read, last) for last in self._endings(read)]
        return tuple(patterns)

    def _endings(self, read: int) -> list[int]:
        """Acquire fences, and acquire operations on the same location, after a strong read."""
        location = self.events[read].location
        return [
            last
            for last, event in enumerate(self.events)
            if (read, last) in self.program_order
            and event.order.acquires
            and (event.kind is EventKind.FENCE or event.location == location)
        ]

    @cached_property
    def synchronizations(self) -> tuple[Synchronization, ...]:
        """Pairs of patterns on one location whose outer operations are morally strong."""
        return tuple(
            Synchronization(first, write, read, last)
            for first, write in self.release_patterns
            for read, last in self.acquire_patterns
            if self.events[write].location == self.events[read].location
            and (first, last) in self.morally_strong
        )

    @cached_property
    def fixed_causality(self) -> Relation:
        """Base causality common to all executions: program order, barriers, asynchronous order, and
        initial writes before everything.  Not transitively closed."""
        size = len(self.events)
        initial = self.events_where(lambda event: event.thread == INITIAL_THREAD)
        launch = Relation([~initial & ((1 << size) - 1)] * size).within(initial, ~initial)
        return self.program_order | self.barrier_order | self.asynchronous_order | launch

    def base_causality(self, synchronizes: Relation) -> Relation:
        """Base causality order, given the synchronisation at run time."""
        order = (self.fixed_causality | synchronizes).closure()
        return order | self.issue_order | order.then(self.issue_order)

    def preserved(self, base_causality: Relation) -> Relation:
        """Proxy-preserved base causality order."""
        return base_causality & self.same_address
