"""Order of operations: streams, events and the host's waits, as CUDA defines them.

An operation is a kernel, or a read or write of device memory by a copy.  It comes after those
that its stream, the events that its stream has waited for, and the host's waits put before it.
Operations run in the order in which the program issues them; what matters here is which of them
need not have waited for which.

Ref: CUDA Runtime API (CUDA 13.0), "API synchronization behavior" and "Stream synchronization
behavior".
"""

from __future__ import annotations

from collections.abc import Iterable

#: The legacy default stream.
LEGACY = 0

#: Operations known to be complete: by stream, the number of the last one.
_Known = dict[int, int]


class StreamError(ValueError):
    """A stream or an event that is not there."""


def _learn(known: _Known, other: _Known) -> None:
    for stream, operation in other.items():
        if operation > known.get(stream, -1):
            known[stream] = operation


class Streams:
    """Streams and events of one program, and what the host knows to be complete.

    Threads of the host count as one: what one of them has waited for is complete for all.
    """

    def __init__(self) -> None:
        self._streams: dict[int, _Known] = {LEGACY: {}}
        self._blocking: set[int] = set()
        self._events: dict[int, _Known] = {}
        self._host: _Known = {}
        self._operations: list[_Known] = []
        self._numbers = LEGACY

    # Streams and events

    def _new(self) -> int:
        self._numbers += 1
        return self._numbers

    def create_stream(self, non_blocking: bool) -> int:
        """Number of a new stream."""
        number = self._new()
        self._streams[number] = {}
        if not non_blocking:
            self._blocking.add(number)
        return number

    def destroy_stream(self, stream: int) -> None:
        """Forget a stream; what it has been given stays."""
        self.check_stream(stream)
        if stream == LEGACY:
            raise StreamError("The default stream cannot be destroyed")
        if stream in self._blocking:
            # The legacy default stream continues to wait for these operations.
            _learn(self._streams[LEGACY], self._streams[stream])
            self._blocking.discard(stream)
        del self._streams[stream]

    def create_event(self) -> int:
        """Number of a new event."""
        number = self._new()
        self._events[number] = {}
        return number

    def destroy_event(self, event: int) -> None:
        """Forget an event."""
        self._check_event(event)
        del self._events[event]

    def check_stream(self, stream: int) -> None:
        """Raise `StreamError` if there is no such stream."""
        if stream not in self._streams:
            raise StreamError(f"Stream {stream} was not created, or was destroyed")

    def _check_event(self, event: int) -> None:
        if event not in self._events:
            raise StreamError(f"Event {event} was not created, or was destroyed")

    # Order

    def _before_next(self, stream: int) -> _Known:
        """What comes before anything that the stream is given now."""
        self.check_stream(stream)
        known = self._streams[stream]
        _learn(known, self._host)
        if stream == LEGACY:
            for other in self._blocking:
                _learn(known, self._streams[other])
        elif stream in self._blocking:
            _learn(known, self._streams[LEGACY])
        return known

    def issue(self, stream: int) -> tuple[int, ...]:
        """Give a stream its next operation.

        Returns
        -------
        tuple of int
            Operations of other streams that it comes after, without those that these, or the
            operation before in the stream, come after; ascending.
        """
        known = self._before_next(stream)
        before = set(known.values())
        direct = before - {known.get(stream)} - self._implied(before)
        number = len(self._operations)
        known[stream] = number
        self._operations.append(dict(known))
        return tuple(sorted(direct))

    def _implied(self, operations: Iterable[int]) -> set[int]:
        return {
            earlier
            for operation in operations
            for earlier in self._operations[operation].values()
            if earlier != operation
        }

    def record(self, event: int, stream: int) -> None:
        """Record an event: it stands for the operations submitted to the stream so far."""
        self._check_event(event)
        self._events[event] = dict(self._before_next(stream))

    def wait(self, stream: int, event: int) -> None:
        """Let a stream wait for an event; one that was never recorded is no wait."""
        self._check_event(event)
        _learn(self._before_next(stream), self._events[event])

    def host_waits_for_stream(self, stream: int) -> None:
        """The host has waited for all operations submitted to a stream."""
        _learn(self._host, self._before_next(stream))

    def host_waits_for_event(self, event: int) -> None:
        """The host has waited for all operations that an event stands for."""
        self._check_event(event)
        _learn(self._host, self._events[event])

    def host_waits_for_all(self) -> None:
        """The host has waited for all operations."""
        if self._operations:
            for stream in self._streams:
                _learn(self._host, self._streams[stream])
