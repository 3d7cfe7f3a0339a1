"""Write buffers: stores held until a fence, exactly as in the paper.

Each thread has a buffer for global and one for shared memory.  Holding a store is a choice; a load
takes the thread's own held value; a store to a held address flushes the held one first.  Fences,
the end of the thread and a full buffer flush all.  Loads are never stale, and scopes have no
effect.  Where the paper is silent: an atomic flushes held stores to its own address and takes
effect at once, and a release is a fence followed by a store.

Ref: Islam and Muzahid, "Bugaroo: Exposing Memory Model Bugs in Many-core Systems", Algorithms 1
and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from racetrap.golden_model.ptx_memory_model.events import Location, Order
from racetrap.golden_model.ptx_memory_model.operational.choices import Choices, Kind
from racetrap.golden_model.ptx_memory_model.operational.execution import Moment, Operation
from racetrap.golden_model.ptx_memory_model.operational.memory import (
    ByteMemory,
    Memory,
    Pending,
    Strength,
    settled,
)
from racetrap.golden_model.ptx_memory_model.scopes import Place, Scope

#: Entries of one buffer, as in the paper.
BUFFER_ENTRIES = 256


class WriteBuffers(Memory):
    """Memory behind write buffers.

    Parameters
    ----------
    memory, places, choices
        As of `Memory`.
    is_shared : callable
        Whether a location lies in shared memory.
    barrier_holds_global : bool
        Whether a barrier flushes stores to shared memory only (Algorithm 1), not all (Section
        III-B).
    """

    def __init__(
        self, memory: ByteMemory, places: Sequence[Place], choices: Choices,
        is_shared: Callable[[Location], bool] = lambda _: False,
        barrier_holds_global: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(memory, places, choices)
        self._is_shared, self._barrier_holds_global = is_shared, barrier_holds_global
        #: Held values of each thread, in the order of the stores: global, shared.
        self._buffers: list[tuple[dict[Location, int], dict[Location, int]]] = [
            ({}, {}) for _ in places
        ]
        #: Writes to memory so far.
        self._writes = 0
        #: Operations of the stores that are held, if the execution is kept.
        self._held: dict[tuple[int, Location], Operation] = {}
        #: Stores flushed each time, to global and to shared memory.
        self.flush_lengths: tuple[list[int], list[int]] = [], []

    def _buffer(self, thread: int, location: Location) -> dict[Location, int]:
        return self._buffers[thread][self._is_shared(location)]

    def _overlapping(self, thread: int, location: Location) -> list[Location]:
        buffer = self._buffer(thread, location)
        if location in buffer:
            return [location]
        return [held for held in buffer if held.overlaps(location)] if buffer else []

    def _let_out(self, thread: int, location: Location) -> None:
        """Flush the thread's held stores to a location."""
        buffer = self._buffer(thread, location)
        for held in self._overlapping(thread, location):
            self._write(thread, held, buffer.pop(held), self._held.pop((thread, held), None))

    def _flush(self, thread: int, shared: bool) -> None:
        buffer = self._buffers[thread][shared]
        if buffer:
            self.flush_lengths[shared].append(len(buffer))
        for location, value in buffer.items():
            self._write(thread, location, value, self._held.pop((thread, location), None))
        buffer.clear()

    @property
    def now(self) -> Moment:
        return self._writes, 0.0

    def _write(
        self, thread: int, location: Location, value: int, operation: Operation | None
    ) -> None:
        self._writes += 1
        if operation is not None:
            operation.writes = self.now
        self.choices.touched(thread, location.address, location.size, True)
        self.memory.write(location, value)

    def load(
        self, thread: int, location: Location, strength: Strength, may_wait: bool = False
    ) -> int | Pending:
        overlapping = self._overlapping(thread, location)
        if overlapping == [location]:
            if self.execution is not None:
                self.execution.add(thread, location).reads = self._held[thread, location]
            return self._buffer(thread, location)[location]
        if overlapping:
            self._let_out(thread, location)
        self.choices.touched(thread, location.address, location.size, False)
        self.read_newest(thread, location)
        return self.memory.read(location)

    def store(
        self, thread: int, location: Location, value: int | Pending, strength: Strength
    ) -> None:
        number = settled(value)
        if strength.order.releases:
            self.fence(thread, strength.order, Scope.GPU)
        buffer, shared = self._buffer(thread, location), self._is_shared(location)
        if len(buffer) >= BUFFER_ENTRIES:
            self._flush(thread, shared)
        self._let_out(thread, location)
        operation = None if self.execution is None else self.execution.add(thread, location)
        if self.choices.take(Kind.HOLD, 2, self._told("is held back")):
            buffer[location] = number
            if operation is not None:
                self._held[thread, location] = operation
        else:
            self._write(thread, location, number, operation)

    def atomic(
        self, thread: int, location: Location, update: Callable[[int], int | None],
        strength: Strength, returns: bool = True,
    ) -> int:  # fmt: skip
        if strength.order.releases:
            self.fence(thread, strength.order, Scope.GPU)
        self._let_out(thread, location)
        self.choices.touched(thread, location.address, location.size, True)
        if self.execution is not None:
            operation = self.execution.add(thread, location)
            operation.reads = self.now
            self._writes += 1
            operation.writes = self.now
        return super().atomic(thread, location, update, strength, returns)

    def fence(self, thread: int, order: Order, scope: Scope) -> None:
        self._flush(thread, False)
        self._flush(thread, True)

    def arrive(self, thread: int) -> object:
        if not self._barrier_holds_global:
            self._flush(thread, False)
        self._flush(thread, True)
        return None

    def end(self, thread: int) -> None:
        self.fence(thread, Order.SC, Scope.GPU)

    def holds(self, thread: int) -> bool:
        return any(self._buffers[thread])

    def drain(self) -> None:
        for thread in range(len(self.places)):
            self.end(thread)

    def key(self) -> Hashable:
        return tuple(tuple(tuple(buffer.items()) for buffer in pair) for pair in self._buffers)
