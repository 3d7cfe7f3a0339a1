"""Requests about streams and events."""

from __future__ import annotations

from typing import Any

from racetrap.sim.gpu.cuda.context import Context, Numbers
from racetrap.sim.gpu.cuda.errors import CudaError, RequestError
from racetrap.sim.gpu.cuda.messages import SynchronizeKind


class StreamRequests:
    """Serves the requests of a context that are about streams and events."""

    def __init__(self, context: Context):
        self._streams = context.streams

    def create_stream(self, request: Any) -> Numbers:
        """Create a stream."""
        return (self._streams.create_stream(bool(request.non_blocking)),)

    def destroy_stream(self, request: Any) -> None:
        """Destroy a stream."""
        self._streams.destroy_stream(request.stream)

    def create_event(self, request: Any) -> Numbers:
        """Create an event."""
        return (self._streams.create_event(),)

    def destroy_event(self, request: Any) -> None:
        """Destroy an event."""
        self._streams.destroy_event(request.event)

    def record_event(self, request: Any) -> None:
        """Record an event."""
        self._streams.record(request.event, request.stream)

    def wait_event(self, request: Any) -> None:
        """Let a stream wait for an event."""
        self._streams.wait(request.stream, request.event)

    def synchronize(self, request: Any) -> None:
        """Let the host wait."""
        if request.kind == SynchronizeKind.ALL:
            self._streams.host_waits_for_all()
        elif request.kind == SynchronizeKind.STREAM:
            self._streams.host_waits_for_stream(request.number)
        elif request.kind == SynchronizeKind.EVENT:
            self._streams.host_waits_for_event(request.number)
        else:
            raise RequestError(CudaError.INVALID_VALUE)
