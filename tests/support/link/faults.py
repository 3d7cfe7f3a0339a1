"""A bad line: what can happen to the bytes of a frame."""

from __future__ import annotations

import random
from collections.abc import Callable

from racetrap.golden_model.link.frames import ESCAPE, FLAG, MAX_BODY_BYTES

#: Without a flag, so that the frame behind it is lost, too.
_NOISE = bytes(range(FLAG)) * (MAX_BODY_BYTES // FLAG + 1)

#: Each takes a frame's bytes, a place in them and a source of chance; gives what arrives.
FAULTS: dict[str, Callable[[bytes, int, random.Random], bytes]] = {
    "bit": lambda data, at, rng: (
        data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    ),
    "burst": lambda data, at, rng: data[:at] + rng.randbytes(5) + data[at + 5 :],
    "drop": lambda data, at, rng: data[:at] + data[at + 1 :],
    "double": lambda data, at, rng: data[: at + 1] + data[at:],
    "garbage": lambda data, at, rng: (
        data[:at] + bytes(rng.choices([FLAG, ESCAPE, *range(256)], k=9)) + data[at:]
    ),
    "cut": lambda data, at, rng: data[:at],
    "lost": lambda data, at, rng: b"",
    "too long": lambda data, at, rng: data[:at] + _NOISE + data,
    "twice": lambda data, at, rng: data + data,
}


class BadLine:
    """A host's line to a device; it is silent when nothing has come.

    Parameters
    ----------
    exchange : callable
        Takes the bytes that arrive at the device, and gives those that it sends.
    rng : random.Random
        What goes wrong.
    rate : float
        Part of what is sent and of the replies that something happens to.

    Attributes
    ----------
    faults : dict of str to int
        What has happened.
    """

    def __init__(self, exchange: Callable[[bytes], bytes], rng: random.Random, rate: float):
        self._exchange, self._rng, self.rate = exchange, rng, rate
        self._received = b""
        self.faults = dict.fromkeys(FAULTS, 0)

    def send(self, data: bytes) -> None:
        """Bytes from the host."""
        self._received += self._carry(self._exchange(self._carry(data)))

    def receive(self) -> bytes:
        """Bytes that have come to the host."""
        data, self._received = self._received, b""
        return data

    def _carry(self, data: bytes) -> bytes:
        if not data or self._rng.random() >= self.rate:
            return data
        name = self._rng.choice(list(FAULTS))
        self.faults[name] += 1
        return FAULTS[name](data, self._rng.randrange(len(data)), self._rng)
