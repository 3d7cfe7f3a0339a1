"""Rules that an AXI4 manager must obey, checked at its port.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), A3.2 (handshake) and A3.4 (bursts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from racetrap.golden_model.axi import PAGE_BYTES, AxiBurst
from racetrap.tb.pins import Pins

_BEAT_BYTES = 8  # of most ports


class AxiViolation(AssertionError):
    """The device broke a rule of AXI4."""


class ChannelWatch:
    """A channel that the device drives: once valid, it stays valid and unchanged until ready.

    Parameters
    ----------
    pins : Pins
        Signals.
    name : str
        Channel with its port, such as ``m_axi_report__aw``.
    """

    def __init__(self, pins: Pins, name: str):
        self._name = name
        self._valid = pins.flag(f"{name}valid")
        self._handshake = pins.handshake(name)
        self._unpack = pins.bundle(name).unpack
        self._read = pins.reader(name)
        self._waiting: int | None = None

    def look(self, flags: int) -> dict[str, int] | None:
        """Check one cycle; return the payload if it is transferred."""
        waiting = self._waiting
        if not flags & self._valid:
            if waiting is not None:
                raise AxiViolation(f"{self._name}valid must stay high until ready")
            return None
        word = self._read()
        if waiting is not None and word != waiting:
            raise AxiViolation(
                f"{self._name} payload must not change from {waiting:#x} to {word:#x}"
            )
        if flags & self._handshake == self._handshake:
            self._waiting = None
            return self._unpack(word)
        self._waiting = word
        return None


def check_address(
    channel: str, address: Mapping[str, int], beats: int, beat_bytes: int = _BEAT_BYTES
) -> None:
    """Check an address beat of a port that makes bursts of ``beats`` transfers.

    Raises
    ------
    AxiViolation
        If it breaks a rule.
    """
    size = beats * beat_bytes
    rules: tuple[tuple[str, int, Callable[[int], bool]], ...] = (
        ("len", address["len"], lambda value: value == beats - 1),
        ("size", address["size"], lambda value: 1 << value == beat_bytes),
        ("burst", address["burst"], lambda value: value == AxiBurst.INCR or beats == 1),
        ("lock", address["lock"], lambda value: value == 0),
        ("addr (aligned)", address["addr"], lambda value: value % beat_bytes == 0),
        ("addr (page)", address["addr"], lambda value: value % PAGE_BYTES + size <= PAGE_BYTES),
    )
    for name, value, holds in rules:
        if not holds(value):
            raise AxiViolation(
                f"{channel}{name} of a {beats}-beat burst must be legal, not {value:#x}"
            )
