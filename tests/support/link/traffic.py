"""Random requests over a bad line, with an account of what they must have done."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.frames import MAX_PAYLOAD_BYTES, REFUSED, Kind
from racetrap.golden_model.link.host import LinkHost
from tests.support.link.faults import BadLine
from tests.support.link.loopback import ADDRESSES, Loopback, LoopParams

#: Times a request is sent before the host gives up.
_TRIES = 60
#: Bytes of records; those that are special on the line are frequent.
_BYTES = [0x7D, 0x7E] * 64 + [*range(256)]


class Beside:
    """Hardware and golden device on one line: what they send must be the same bytes.

    Parameters
    ----------
    params : LoopParams
        What both are.
    play : callable
        Gives bytes to the hardware; takes as many as are due from it, and those beyond.
    """

    def __init__(self, params: LoopParams, play: Callable[[bytes, int], bytes]):
        self.target = Loopback(params)
        self._golden, self._play = LinkDevice(self.target, params.hello), play

    def exchange(self, data: bytes) -> bytes:
        """Give bytes to both, up to a flag at a time; gives what both send."""
        sent = b""
        for part in re.findall(b"[^~]*~|[^~]+", data):
            due = self._golden.receive(part)
            seen = self._play(part, len(due))
            assert seen == due, f"answer to {part.hex()} must be {due.hex()}, not {seen.hex()}"
            sent += due
        return sent


class Traffic:
    """A host whose every request is done once, in order, whatever happens on the line.

    Parameters
    ----------
    line : BadLine
        Line to a loopback.
    params : LoopParams
        Its parameters.
    rng : random.Random
        What is asked.
    move : callable
        Lets records flow in the loopback.

    Attributes
    ----------
    host : LinkHost
        The host.
    returned : int
        Bytes of records that came back.
    """

    def __init__(
        self, line: BadLine, params: LoopParams, rng: random.Random, move: Callable[[], None]
    ):
        self._line, self._params, self._rng, self._move = line, params, rng, move
        # Records taken by the link and not given back yet, of each channel.
        self._pending = [b""] * params.channels
        self.returned = 0
        self.host = LinkHost(line.send, line.receive, _TRIES)
        assert self.host.exchange(Kind.HELLO).payload == params.hello.to_payload()
        self._sum = self._register()

    def play(self, requests: int) -> None:
        """Make so many requests, good and bad."""
        kinds: list[Callable[[], object]] = [self._push, self._pull, self._write, self._odd]
        for _ in range(requests):
            self._rng.choices(kinds, [4, 4, 2, 1])[0]()
            if self._rng.random() < 0.5:
                self._move()

    def finish(self) -> None:
        """Take back every record over a good line, and demand that nothing is too few or many."""
        self._line.rate = 0.0
        while any(self._pending):
            self._move()
            for channel in range(self._params.channels):
                self._pull(channel)
        assert [channel for channel in range(self._params.channels) if self._pull(channel)] == []
        assert self._register() == self._sum

    def _register(self) -> int:
        address = self._rng.randrange(ADDRESSES)
        reply = self.host.exchange(Kind.ACCESS, 0, address.to_bytes(2, "little"))
        return int.from_bytes(reply.payload, "little") ^ address

    def _push(self) -> None:
        """Push some records, perhaps more than there is room for."""
        channel = self._rng.randrange(self._params.channels)
        records = self._rng.randint(0, self._params.credits + 1)
        size = min(records, MAX_PAYLOAD_BYTES // self._params.size) * self._params.size
        payload = bytes(self._rng.choices(_BYTES, k=size))
        if self.host.exchange(Kind.PUSH, channel, payload).code & REFUSED:
            room = self.host.exchange(Kind.PUSH, channel).payload
            assert len(payload) > int.from_bytes(room, "little")
        else:
            self._pending[channel] += payload

    def _pull(self, channel: int | None = None) -> int:
        """Pull records, which must be the oldest ones; gives how many bytes."""
        if channel is None:
            channel = self._rng.randrange(self._params.channels)
        records = self.host.exchange(Kind.PULL, channel).payload
        assert self._pending[channel].startswith(records)
        self._pending[channel] = self._pending[channel].removeprefix(records)
        self.returned += len(records)
        return len(records)

    def _write(self) -> None:
        """Add to the register, or to one that is not there."""
        address, data = self._rng.randrange(2 * ADDRESSES), self._rng.randbytes(4)
        reply = self.host.exchange(Kind.ACCESS, 0, address.to_bytes(2, "little") + data)
        assert bool(reply.code & REFUSED) == (address >= ADDRESSES)
        added = 0 if reply.code & REFUSED else address + int.from_bytes(data, "little")
        self._sum = (self._sum + added) & 0xFFFF_FFFF

    def _odd(self) -> None:
        """A request that is refused: no such channel, address or access."""
        size = self._rng.choice([0, 1, 3, 5, 7, MAX_PAYLOAD_BYTES])
        kind, channel, payload = self._rng.choice([
            (Kind.PUSH, self._params.channels, b""), (Kind.PULL, 31, b""),
            (Kind.ACCESS, 0, bytes(size)), (Kind.ACCESS, 0, b"\0\x10"),
        ])  # fmt: skip
        assert self.host.exchange(kind, channel, payload).code & REFUSED
