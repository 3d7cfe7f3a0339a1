"""A host that uses a bad line: it keeps account of every record, whatever happens on the way."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from racetrap.golden_model.link.frames import Frame, Kind, Status, encode
from racetrap.tb.link.faults import FAULTS
from racetrap.tb.link.line import Line
from racetrap.tb.link.loopback import ADDRESS_BITS, REGISTERS

_HELLO = b"\x01"
#: Times a request is sent before the host gives up.
_ATTEMPTS = 20
_MANY = 255


class Host:
    """Sends random requests over a line, repeats what is not answered, and checks the records.

    Parameters
    ----------
    line : Line
        Line to the link.
    rng : random.Random
        What is asked and what goes wrong.
    fault_rate : float
        Part of the frames of either direction that something happens to.
    """

    def __init__(self, line: Line, rng: random.Random, fault_rate: float = 0.0):
        self.faults = dict.fromkeys(FAULTS, 0)
        self.repeats = 0
        #: Records taken by the link and not given back yet, of each channel.
        self.pending: list[deque[int]] = [deque() for _ in range(line.params.channels)]
        self.returned = 0
        self._line = line
        self._rng = rng
        self.fault_rate = fault_rate
        self._sequence = rng.randrange(256)
        self._size = -(-line.params.bits // 8)

    async def request(self, kind: int, payload: bytes = b"") -> bytes:
        """Send a request until its reply comes; gives the reply's payload."""
        if kind != Kind.HELLO:
            self._sequence = (self._sequence + 1) % 256
        frame = Frame(kind, self._sequence, payload)
        for attempt in range(_ATTEMPTS):
            self.repeats += attempt > 0
            replies = await self._line.exchange(self._damage(encode(frame)))
            ours = [reply for reply in replies if reply.sequence == self._sequence]
            is_lost = self._rng.random() < self.fault_rate
            if ours and not is_lost:
                return ours[-1].payload
        raise AssertionError(f"Request {frame} must be answered within {_ATTEMPTS} attempts")

    async def hello(self) -> bytes:
        """Bring the link up, with a sequence of our choice."""
        self._sequence = self._rng.randrange(256)
        return await self.request(Kind.HELLO, _HELLO)

    def _damage(self, data: bytes) -> bytes | list[int]:
        if self._rng.random() >= self.fault_rate:
            return data
        name = self._rng.choice(list(FAULTS))
        self.faults[name] += 1
        return FAULTS[name](data, self._rng)

    async def random_request(self) -> None:
        """One request of a random kind, good or bad."""
        kinds: list[Callable[[], Awaitable[Any]]] = [
            self.push, self.pull, self.register, self.odd_request, self.stray_request,
        ]  # fmt: skip
        await self._rng.choices(kinds, weights=[5, 4, 2, 1, 1])[0]()
        if self._rng.random() < 0.5:
            await self._line.move_records()

    async def push(self) -> None:
        """Push some records, perhaps more than there is credit for."""
        rng, params = self._rng, self._line.params
        channel = rng.randrange(params.channels)
        credit = self._line.target.credits(channel)
        most = min((255 - 1) // self._size, credit + 2)
        # All bytes that are special on the line are frequent.
        records = [rng.choice([rng.getrandbits(params.bits), 0x7D7E7D7E & (1 << params.bits) - 1])
                   for _ in range(rng.randint(0, most))]  # fmt: skip
        body = b"".join(record.to_bytes(self._size, "little") for record in records)
        status, left = await self.request(Kind.PUSH, bytes([channel]) + body)
        if len(records) > credit:
            assert (status, left) == (Status.NO_CREDIT, credit)
        else:
            assert (status, left) == (Status.OK, credit - len(records))
            self.pending[channel] += records

    async def pull(self, channel: int | None = None) -> bool:
        """Pull some records; says whether more wait."""
        if channel is None:
            channel = self._rng.randrange(self._line.params.channels)
        most = self._rng.choice([1, 2, 3, _MANY])
        status, more, *body = await self.request(Kind.PULL, bytes([channel, most]))
        assert status == Status.OK
        for start in range(0, len(body), self._size):
            record = int.from_bytes(bytes(body[start : start + self._size]), "little")
            assert record == self.pending[channel].popleft()
            self.returned += 1
        return bool(more)

    async def register(self) -> None:
        """Write and read back a register, or one that is not there."""
        rng = self._rng
        number = rng.randrange(REGISTERS + 2)
        address, data = (4 * number).to_bytes(2, "little"), rng.randbytes(4)
        status = await self.request(Kind.WRITE, address + data)
        reply = await self.request(Kind.READ, address)
        if number < REGISTERS:
            assert status == bytes([Status.OK])
            assert reply == bytes([Status.OK]) + data
        else:
            assert status == reply == bytes([Status.REGISTER_ERROR])

    async def odd_request(self) -> None:
        """A request that only the golden device knows the answer to."""
        rng = self._rng
        kind = rng.choice([*Kind, 0, 7, 0x7E, 0x82, 0xFF])
        length = rng.choice([0, 1, 2, 3, 5, 6, 7])
        payload = rng.randbytes(length)
        if kind in (Kind.PUSH, Kind.PULL):  # records would go unaccounted
            payload = bytes([self._line.params.channels]) + payload
        if kind == Kind.HELLO:
            payload = bytes([2])
        if kind in (Kind.READ, Kind.WRITE) and length:
            payload = (rng.randrange(1, 1 << 16 - ADDRESS_BITS) << ADDRESS_BITS).to_bytes(2, "big")
        await self.request(kind, payload)
        if kind == Kind.HELLO:
            await self.hello()

    async def stray_request(self) -> None:
        """A good frame out of the order: neither executed nor answered."""
        sequence = (self._sequence + self._rng.randrange(2, 256)) % 256
        record = self._rng.randbytes(self._size)
        frame = Frame(Kind.PUSH, sequence, bytes([0]) + record)
        assert await self._line.exchange(encode(frame)) == []

    async def drain(self) -> None:
        """Take back every record, and demand that none is left on either side."""
        for channel, pending in enumerate(self.pending):
            while pending:
                await self._line.move_records()
                while await self.pull(channel):
                    pass
            assert not await self.pull(channel)
