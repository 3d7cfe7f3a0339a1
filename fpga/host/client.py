"""Host's end of the link: one request after the other over a serial port, each answered once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from racetrap.golden_model.link.frames import (
    MAX_BODY_BYTES,
    PROTOCOL_VERSION,
    REPLY,
    Decoder,
    Frame,
    Hello,
    Kind,
    Status,
    encode,
)
from racetrap.sim.failure import Failure

_SEQUENCES = 256
#: Bits on the line of one byte: start, eight data, stop.
_BITS_PER_BYTE = 10
#: A read waits at most so long, so that a deadline is met to that.
_SLICE_S = 0.02


class Port(Protocol):
    """An open serial port, as pyserial has them."""

    @property
    def in_waiting(self) -> int:
        """Bytes that have come and were not read."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes, after a short wait for the first."""

    def write(self, data: bytes, /) -> int | None:
        """Send bytes."""

    def close(self) -> None:
        """End."""


class LinkError(Failure):
    """No device answers, another device than expected, or one that was lost."""


class RefusedError(LinkError):
    """The device answered that it did not do what was asked.

    Parameters
    ----------
    kind : int
        What was asked.
    status : int
        First byte of the reply.
    """

    def __init__(self, kind: int, status: int):
        names = {int(known): known.name.lower().replace("_", " ") for known in Status}
        super().__init__(
            f"Device refused request {Kind(kind).name} with status {status} "
            f"({names.get(status, 'unknown')})"
        )
        self.status = status


@dataclass
class LineCounts:
    """What the host saw of the line.

    Attributes
    ----------
    requests, resends : int
        Requests made, and frames sent again since no reply came in time.
    bytes_sent, bytes_received : int
        Bytes of both directions.
    bad_frames, stale_replies : int
        Damaged replies, and replies to requests that had been answered before.
    """

    requests: int = 0
    resends: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    bad_frames: int = 0
    stale_replies: int = 0


class HostLink:
    """A serial port with a device behind it.

    A request whose reply does not come in time is sent again with the same sequence number; the
    device executes it once, however often it comes.  So a line that damages, drops or doubles
    bytes costs time and nothing else.

    Parameters
    ----------
    port : str or Port
        Serial port, a URL that pyserial knows, such as ``socket://host:4000``, or one that is open.
    baud : int
        Bits a second.
    timeout_s : float
        Seconds that a reply may take besides the time that its bytes need.
    retries : int
        Times that a request is sent again before the device counts as lost.

    Attributes
    ----------
    counts : LineCounts
        What was seen of the line.

    Raises
    ------
    LinkError
        From every method: if the port cannot be opened, is lost, or nothing answers.
    """

    def __init__(
        self, port: str | Port, baud: int = 1_000_000, timeout_s: float = 0.25, retries: int = 8
    ):
        self._name, self._baud = str(port), baud
        self._timeout_s, self._retries = timeout_s, retries
        self._sequence = 0
        self._decoder = Decoder()
        self._frames: deque[Frame] = deque()
        self.counts = LineCounts()
        self._is_met = False  # a device has answered
        self._port = _open(port, baud) if isinstance(port, str) else port

    def __enter__(self) -> HostLink:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def hello(self) -> Hello:
        """Shake hands; what the device is.  ``LinkError`` if it speaks another version."""
        payload = self._exchange(Kind.HELLO, bytes([PROTOCOL_VERSION]))
        try:
            hello = Hello.from_payload(payload)
        except ValueError as error:
            raise LinkError(f"Device on {self._name}: {error}") from error
        if hello.version != PROTOCOL_VERSION:
            raise LinkError(
                f"Device on {self._name} must speak version {PROTOCOL_VERSION} of the link, "
                f"not {hello.version}"
            )
        if hello.status != Status.OK:
            raise RefusedError(Kind.HELLO, hello.status)
        return hello

    def request(self, kind: int, payload: bytes = b"") -> bytes:
        """Have one request executed, exactly once.

        Parameters
        ----------
        kind : int
            What is asked (``Kind``).
        payload : bytes
            Its payload.

        Returns
        -------
        bytes
            Payload of the reply, status first.

        Raises
        ------
        RefusedError
            If the status of the reply is not OK.
        """
        reply = self._exchange(kind, payload)
        if reply[0] != Status.OK:
            raise RefusedError(kind, reply[0])
        return reply

    def _exchange(self, kind: int, payload: bytes) -> bytes:
        self._sequence = (self._sequence + 1) % _SEQUENCES
        data = encode(Frame(kind, self._sequence, payload))
        self.counts.requests += 1
        try:
            for attempt in range(1 + self._retries):
                self.counts.resends += attempt > 0
                self.counts.bytes_sent += len(data)
                self._port.write(data)
                if (reply := self._await(kind | REPLY, len(data))) is not None:
                    self._is_met = True
                    return reply
        except OSError as error:
            raise LinkError(
                f"Device on {self._name} was lost after {self._answered} requests: {error}"
            ) from error
        raise LinkError(self._silence())

    @property
    def _answered(self) -> int:
        return self.counts.requests - 1

    def _silence(self) -> str:
        if self._is_met:
            return (
                f"Device on {self._name} was lost after {self._answered} requests: "
                f"no answer in {1 + self._retries} tries"
            )
        return (
            f"No device answers on {self._name} at {self._baud} baud "
            f"in {1 + self._retries} tries of {self._timeout_s:g} s"
        )

    def _await(self, kind: int, sent: int) -> bytes | None:
        """Payload of the reply to the last request, or None if it does not come in time."""
        # Every byte of a body may be escaped.
        on_line = (sent + 2 * MAX_BODY_BYTES + 2) * _BITS_PER_BYTE / self._baud
        deadline = time.monotonic() + self._timeout_s + on_line
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if (frame.kind, frame.sequence) == (kind, self._sequence) and frame.payload:
                    return frame.payload
                self.counts.stale_replies += 1
            if time.monotonic() > deadline:
                return None
            self._receive()

    def _receive(self) -> None:
        data = self._port.read(max(1, self._port.in_waiting))
        decoder = self._decoder
        self.counts.bytes_received += len(data)
        self._frames += decoder.feed(data)
        self.counts.bad_frames = decoder.bad_crc + decoder.bad_length + decoder.too_long


@contextmanager
def reached(place: Callable[[], str]) -> Iterator[None]:
    """Add to a ``LinkError`` how far a run came, as ``place`` says in words."""
    try:
        yield
    except LinkError as error:
        raise LinkError(f"{error}; it came to {place()}") from error


def _open(port: str, baud: int) -> Port:
    import serial  # of the extra `fpga`; a port that is open, or the hardware simulated, needs none

    try:
        return serial.serial_for_url(port, baudrate=baud, timeout=_SLICE_S)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LinkError(f"Port {port} cannot be opened: {reason}") from error
