"""Base of both modes: the sets of bytes in flight, and how an operation meets them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

from racetrap.golden_model.noncoherent.races import Origin
from racetrap.golden_model.noncoherent.ranges import Ranges, common, widen
from racetrap.golden_model.noncoherent.rules import Overlap, Rule
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)
from tests.support.noncoherent.plain.interval_set import ByteSet, IntervalSet

#: All addresses.
_EVERYWHERE: Ranges = [(0, (1 << 64) - 1)]


class Finding(NamedTuple):
    """An operation breaks a rule with an earlier one.

    Parameters
    ----------
    rule : Rule
        The rule.
    earlier : Origin
        The earlier operation.
    first, last : int
        Bytes in question.
    overlap : Overlap
        What the two operations have in common.
    """

    rule: Rule
    earlier: Origin
    first: int
    last: int
    overlap: Overlap


class Access(NamedTuple):
    """An operation with its bytes, their granules and their lines."""

    origin: Origin
    bytes: Ranges
    granules: Ranges
    lines: Ranges


class Detector(ABC):
    """State of a checker, and the operations that are the same in both modes.

    Parameters
    ----------
    memory : MemorySystem
        The hardware.
    new_set : callable
        Makes an empty set of bytes.
    """

    def __init__(self, memory: MemorySystem, new_set: Callable[[], ByteSet] = IntervalSet) -> None:
        self.memory = memory
        #: Granules that may still be written back, and the bytes of them that were written.
        self.dirty_granules = new_set()
        self.dirty_bytes = new_set()
        #: Bytes of each engine's DMA since the last sync with it.
        self.reading = [new_set() for _ in range(memory.engines)]
        self.writing = [new_set() for _ in range(memory.engines)]
        self._steps: dict[int, Callable[[Access], list[Finding]]] = {
            OperationKind.CACHED_READ: self._cached_read,
            OperationKind.CACHED_WRITE: self._cached_write,
            OperationKind.UNCACHED_READ: self._uncached_read,
            OperationKind.UNCACHED_WRITE: self._uncached_write,
            OperationKind.DMA_READ: self._dma_read,
            OperationKind.DMA_WRITE: self._dma_write,
            OperationKind.SYNC: self._sync,
            OperationKind.SYNC_ALL: self._sync_all,
            OperationKind.CACHE_FLUSH: self._flush,
            OperationKind.CACHE_CLEAN: self._clean,
            OperationKind.CACHE_INVALIDATE: self._invalidate,
            OperationKind.FLUSH_ALL: self._flush,
            OperationKind.CLEAN_ALL: self._clean,
            OperationKind.INVALIDATE_ALL: self._invalidate,
        }

    def step(self, number: int, operation: Operation) -> list[Finding]:
        """Take the next operation; its races with earlier ones.

        The state afterwards is that of a program without the race.

        Parameters
        ----------
        number : int
            Number of the operation in the trace.
        operation : Operation
            The operation.
        """
        ranges = operation.ranges if operation.size else _EVERYWHERE
        access = Access(
            Origin(number, operation.kind, operation.engine, operation.pc),
            ranges,
            widen(ranges, self.memory.write_unit),
            widen(ranges, self.memory.line_bytes),
        )
        return self._steps[operation.kind](access)

    def missed_places(self) -> set[tuple[int, ...]]:
        """Places of invalidations that lost data which was read, or is left in memory."""
        return set()

    @abstractmethod
    def _cached_read(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _cached_write(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _uncached_read(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _uncached_write(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _dma_read(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _dma_write(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _flush(self, access: Access) -> list[Finding]: ...

    @abstractmethod
    def _invalidate(self, access: Access) -> list[Finding]: ...

    def _clean(self, access: Access) -> list[Finding]:
        for first, last in access.lines:
            self.dirty_granules.remove(first, last)
            self.dirty_bytes.remove(first, last)
        return []

    def _sync(self, access: Access) -> list[Finding]:
        self.reading[access.origin.engine].clear()
        self.writing[access.origin.engine].clear()
        return []

    def _sync_all(self, access: Access) -> list[Finding]:
        for sets in (self.reading, self.writing):
            for bytes_ in sets:
                bytes_.clear()
        return []

    def _make_dirty(self, access: Access) -> None:
        if self.memory.write_through:
            return
        for first, last in access.granules:
            self.dirty_granules.add(first, last, access.origin)
        for first, last in access.bytes:
            self.dirty_bytes.add(first, last, access.origin)

    def _issue(self, sets: list[ByteSet], access: Access) -> None:
        for first, last in access.bytes:
            sets[access.origin.engine].add(first, last, access.origin)

    def _with_bytes(self, rule: Rule, sets: Iterable[ByteSet], bytes_: Ranges) -> list[Finding]:
        """Findings where ``bytes_`` meet a set that has just the bytes of other operations."""
        return [
            Finding(rule, run.origin, run.first, run.last, Overlap.BYTES)
            for set_ in sets
            for first, last in bytes_
            for run in set_.overlaps(first, last)
        ]

    def _with_blocks(
        self, rule: Rule, sets: Iterable[ByteSet], access: Access, overlap: Overlap
    ) -> list[Finding]:
        """Findings where the granules or lines of an access meet the bytes of other operations."""
        found = []
        for set_ in sets:
            for first, last in access.lines if overlap is Overlap.LINE else access.granules:
                for run in set_.overlaps(first, last):
                    exact = next(common(access.bytes, run.first, run.last), None)
                    part = exact or (run.first, run.last)
                    seen = Overlap.BYTES if exact else overlap
                    found.append(Finding(rule, run.origin, *part, seen))
        return found

    def _with_dirty(self, rule: Rule, bytes_: Ranges) -> list[Finding]:
        """Findings where ``bytes_`` meet dirty granules; where they meet written bytes, those."""
        found = []
        for first, last in bytes_:
            for run in self.dirty_granules.overlaps(first, last):
                exact = self._with_bytes(rule, [self.dirty_bytes], [run[:2]])
                found += exact or [Finding(rule, run.origin, run.first, run.last, Overlap.GRANULE)]
        return found

    def _with_other_engines(self, sets: Iterable[list[ByteSet]], access: Access) -> list[Finding]:
        """Findings where the DMA of one engine meets that of others."""
        others = [
            bytes_
            for engines in sets
            for engine, bytes_ in enumerate(engines)
            if engine != access.origin.engine
        ]
        return self._with_bytes(Rule.TWO_ENGINES, others, access.bytes)
