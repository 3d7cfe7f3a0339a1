"""Requests about memory: allocations, copies and fills.

Ref: CUDA Runtime API (CUDA 13.0), "API synchronization behavior".
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.cuda.context import Context, Numbers
from racetrap.sim.gpu.cuda.errors import CudaError, RequestError
from racetrap.sim.gpu.cuda.messages import AllocationKind
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, HEAP_END

#: What the program maps itself takes whole pages.
_PAGE = 4096
#: Ranges of one event at most.
_MOST_RANGES = 32


class _Direction(IntEnum):
    """``cudaMemcpyKind``."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4


_FROM_DEVICE = (_Direction.DEVICE_TO_HOST, _Direction.DEVICE_TO_DEVICE)
_TO_DEVICE = (_Direction.HOST_TO_DEVICE, _Direction.DEVICE_TO_DEVICE)


_ALLOCATED = {
    AllocationKind.DEVICE: "allocated by the cudaMalloc",
    AllocationKind.PINNED: "allocated by the cudaMallocHost",
    AllocationKind.MANAGED: "allocated by the cudaMallocManaged",
}


class _Rows(NamedTuple):
    """Bytes of one end of a copy.

    Parameters
    ----------
    address : int
        First byte.
    pitch : int
        Bytes from one row to the next.
    width, height : int
        Bytes of a row, and rows.
    """

    address: int
    pitch: int
    width: int
    height: int

    @property
    def span(self) -> int:
        """Bytes from the first to the last."""
        return (self.height - 1) * self.pitch + self.width

    def ranges(self) -> list[tuple[int, int]]:
        """First byte and bytes of each part without gaps."""
        if self.height == 1 or self.pitch == self.width:
            return [(self.address, self.span)]
        return [(self.address + row * self.pitch, self.width) for row in range(self.height)]


class MemoryRequests:
    """Serves the requests of a context that are about memory."""

    def __init__(self, context: Context):
        self._context = context

    # Allocations

    def allocate(self, request: Any) -> Numbers:
        """Allocate memory; what the program can use itself takes whole pages."""
        if request.kind not in set(AllocationKind) or not request.bytes:
            raise RequestError(CudaError.INVALID_VALUE)
        kind = AllocationKind(request.kind)
        alignment = 256 if kind == AllocationKind.DEVICE else _PAGE
        size = -(-request.bytes // alignment) * alignment
        if kind == AllocationKind.DEVICE:
            size = request.bytes
        try:
            calls = request.site, request.caller, request.outer
            address = self._context.device.allocate(
                size,
                alignment,
                origin=_ALLOCATED[kind],
                calls=tuple(map(self._context.sites.pc, calls)),
                own_size=request.bytes,
            )
        except ExecutionError:
            raise RequestError(CudaError.MEMORY_ALLOCATION) from None
        self._context.buffers[address] = kind
        return (address,)

    def free(self, request: Any) -> None:
        """Free memory once all work is done."""
        self._check_allocated(request.address)
        self._context.streams.host_waits_for_all()
        self._forget(request.address)

    def free_in_stream(self, request: Any) -> None:
        """Free memory; who uses it later, or at the same time, must have waited."""
        self._check_allocated(request.address)
        buffer = self._context.device.buffer(request.address)
        assert buffer is not None
        rows = _Rows(buffer.address, buffer.size, buffer.size, 1)
        self._note(EventKind.COPY_WRITE, rows, request)
        self._forget(request.address)

    def reset(self, request: Any) -> None:
        """Free everything."""
        self._context.streams.host_waits_for_all()
        for address in list(self._context.buffers):
            self._forget(address)

    def _check_allocated(self, address: int) -> None:
        if address not in self._context.buffers:
            raise RequestError(CudaError.INVALID_VALUE)

    def _forget(self, address: int) -> None:
        del self._context.buffers[address]
        self._context.device.free(address)

    # Copies

    def copy(self, request: Any) -> Numbers:
        """Check and note a copy.

        One to the host has ended when the function returns, and so has one from page-locked
        memory; one from pageable memory, which is staged, and one inside device memory need not
        have.
        """
        streams = self._context.streams
        streams.check_stream(request.stream)
        target = _Rows(request.target, request.target_pitch, request.width, request.height)
        source = _Rows(request.source, request.source_pitch, request.width, request.height)
        to_device, from_device = self._ends(request.direction, target, source)
        if not request.asynchronous and not from_device:
            streams.host_waits_for_stream(request.stream)
        for rows, kind in ((source, EventKind.COPY_READ), (target, EventKind.COPY_WRITE)):
            if _in_file(rows.address):
                self._note(kind, rows, request)
        page_locked = request.page_locked or self._kind(source) == AllocationKind.PINNED
        if not request.asynchronous and (not to_device or (not from_device and page_locked)):
            streams.host_waits_for_stream(request.stream)
        return int(_in_file(target.address)), int(_in_file(source.address))

    def fill(self, request: Any) -> None:
        """Check and note a fill; only one of memory that the host can use has ended then."""
        streams = self._context.streams
        streams.check_stream(request.stream)
        rows = _Rows(request.target, request.pitch, request.width, request.height)
        self._check(rows)
        self._note(EventKind.COPY_WRITE, rows, request)
        if not request.asynchronous and self._kind(rows) not in (None, AllocationKind.DEVICE):
            streams.host_waits_for_stream(request.stream)

    def _ends(self, direction: int, target: _Rows, source: _Rows) -> tuple[bool, bool]:
        """Whether a copy goes to, and comes from, device memory."""
        if direction not in set(_Direction):
            raise RequestError(CudaError.INVALID_MEMCPY_DIRECTION)
        ends = []
        for rows, kinds in ((target, _TO_DEVICE), (source, _FROM_DEVICE)):
            in_file, on_device = _in_file(rows.address), direction in kinds
            if in_file:
                self._check(rows)
            host_can = not in_file or self._kind(rows) not in (None, AllocationKind.DEVICE)
            if direction == _Direction.DEFAULT:
                on_device = in_file and self._kind(rows) != AllocationKind.PINNED
            elif (on_device and not in_file) or (not on_device and not host_can):
                raise RequestError(CudaError.INVALID_VALUE)
            ends.append(on_device)
        return ends[0], ends[1]

    def _kind(self, rows: _Rows) -> AllocationKind | None:
        """How the memory was allocated; ``None`` for variables, and outside device memory."""
        buffer = self._context.device.buffer(rows.address)
        return self._context.buffers.get(buffer.address) if buffer else None

    def _check(self, rows: _Rows) -> None:
        """Refuse rows that are empty, overlap, or do not lie in one buffer."""
        if not rows.width or not rows.height or (rows.height > 1 and rows.pitch < rows.width):
            raise RequestError(CudaError.INVALID_VALUE)
        buffer = self._context.device.buffer(rows.address)
        if buffer is None or rows.address + rows.span > buffer.address + buffer.size:
            raise RequestError(CudaError.INVALID_VALUE)

    def _note(self, kind: EventKind, rows: _Rows, request: Any) -> None:
        """Add a read or write by a copy to the trace."""
        context, ranges = self._context, rows.ranges()
        for start in range(0, len(ranges), _MOST_RANGES):
            operation = context.operation(request.stream, request.site)
            context.device.copy(kind, ranges[start : start + _MOST_RANGES], operation)


def _in_file(address: int) -> bool:
    return HEAP_BASE <= address < HEAP_END
