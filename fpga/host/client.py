"""Host's end of the link at a serial port, with failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from racetrap.golden_model.link.frames import MAX_BODY_BYTES, REFUSED, Kind
from racetrap.golden_model.link.hello import Hello
from racetrap.golden_model.link.host import LinkHost
from racetrap.sim.failure import Failure

#: Bits on the line of the longest request and the longest reply, every byte escaped.
_EXCHANGE_BITS = 2 * 2 * MAX_BODY_BYTES * 10


class LinkError(Failure):
    """No device answers, the device is not the expected one, or it was lost."""


class RefusedError(LinkError):
    """The device refused a request."""


class HostLink(LinkHost):
    """A serial port with a device behind it.

    Parameters
    ----------
    port : str or serial port
        Serial port, a URL for pyserial, such as ``socket://host:4000``, or an open port.
    baud : int
        Bits a second.
    timeout_s : float
        Seconds of silence after which a request is sent again, besides the time on the line.
    retries : int
        How often a request is sent again before the device counts as lost.

    Raises
    ------
    LinkError
        From every method: if the port cannot be opened, is lost, or nothing answers.
    """

    def __init__(self, port: Any, baud: int = 1_000_000, timeout_s: float = 0.25, retries: int = 8):
        self._name = f"Device on {port} at {baud} baud"
        self._port = port = _open(port, baud, timeout_s) if isinstance(port, str) else port
        super().__init__(port.write, lambda: port.read(max(1, port.in_waiting)), 1 + retries)

    def __enter__(self) -> HostLink:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._port.close()

    def hello(self) -> Hello:
        """Shake hands and return the device's identity.  ``LinkError`` for another protocol
        version."""
        try:
            return Hello.from_payload(self.request(Kind.HELLO))
        except ValueError as error:
            raise LinkError(f"{self._name}: {error}") from error

    def request(self, kind: int, channel: int = 0, payload: bytes = b"") -> bytes:
        """Execute one request exactly once; return the reply's payload.

        Raises
        ------
        RefusedError
            If the device refused it.
        """
        try:
            reply = self.exchange(kind, channel, payload)
        except OSError as error:
            answered = self.requests - 1
            what = f"was lost after {answered} requests" if answered else "does not answer"
            raise LinkError(f"{self._name} {what}: {error}") from error
        if reply.code & REFUSED:
            raise RefusedError(f"Device refused request {Kind(kind).name}")
        return reply.payload


@contextmanager
def reached(place: Callable[[], str]) -> Iterator[None]:
    """Add to a ``LinkError`` how far a run came, described by ``place``."""
    try:
        yield
    except LinkError as error:
        raise LinkError(f"{error}; it came to {place()}") from error


def _open(port: str, baud: int, timeout_s: float) -> Any:
    import serial  # of the extra `fpga`; a port that is open, or the hardware simulated, needs none

    try:
        return serial.serial_for_url(port, baudrate=baud, timeout=timeout_s + _EXCHANGE_BITS / baud)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LinkError(f"Port {port} cannot be opened: {reason}") from error
