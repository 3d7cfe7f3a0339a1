"""A host and a golden device on a bad line, both of which may begin anew at any moment."""

from __future__ import annotations

import random
from collections import deque
from itertools import count
from types import ModuleType

from racetrap.golden_model.link import device, frames, host
from racetrap.golden_model.link.hello import Hello
from tests.support.link.faults import BadLine

_HELLO = Hello.of(0, input_bits=16, inputs=2, output_bits=16, outputs=2, credits=3)
_TRIES = 60


class _Killed(Exception):
    """The host is gone."""


class Target:
    """Keeps account of everything that is done."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.queues: list[deque[int]] = [deque(), deque()]

    def push(self, channel: int, record: int) -> None:
        self.done.append(record)
        self.queues[channel].append(record)

    def credits(self, channel: int) -> int:
        return max(0, 3 - len(self.queues[channel]))

    def pull(self, channel: int) -> int | None:
        return self.queues[channel].popleft() if self.queues[channel] else None

    def read(self, address: int) -> int | None:
        return address

    def write(self, address: int, data: int) -> bool:
        self.done.append(data)
        return True


def play(
    seed: int, requests: int, *, device: ModuleType = device, host: ModuleType = host
) -> dict[str, int]:
    """Requests with numbers of their own; whether each was done once and in order.

    A request that was answered must have been done, one whose host was killed or whose device was
    reset meanwhile once or not at all.  A record that comes back must be newer than the last, and
    none may be missing but those that were in a reply to a host that was killed.
    """
    rng = random.Random(seed)
    random.seed(seed)  # the hosts' first sequences
    target = Target()
    numbers, due, sure = count(1), [], set()
    seen = {"killed": 0, "reset": 0, "resends": 0}
    state = {"device": device.LinkDevice(target, _HELLO)}
    risk = rng.choice([0.0, 0.02])

    def exchange(data: bytes) -> bytes:
        if rng.random() < risk:
            seen["reset"] += 1
            state["device"].receive(data[: rng.randrange(len(data) + 1)])
            state["device"] = device.LinkDevice(target, _HELLO)
            return b""
        answer = state["device"].receive(data)
        if rng.random() < risk:
            seen["killed"] += 1
            raise _Killed
        return answer

    line = BadLine(exchange, rng, rng.choice([0.0, 0.1, 0.5]))

    lateness, coming = rng.choice([0.0, 0.3]), bytearray()

    def receive() -> bytes:
        """Bytes come in pieces, and some too late for the host's patience."""
        coming.extend(line.receive())
        size = 0 if rng.random() < lateness else rng.randint(1, 40)
        data = bytes(coming[:size])
        del coming[:size]
        return data

    def new_host() -> host.LinkHost:
        while True:
            made = host.LinkHost(line.send, receive, _TRIES)
            try:
                assert made.exchange(frames.Kind.HELLO).payload == _HELLO.to_payload()
            except _Killed:
                continue
            return made

    user, last, resets = new_host(), {0: 0, 1: 0}, 0
    for _ in range(requests):
        kind, channel = rng.choice([*frames.Kind][1:]), rng.randrange(2)
        size = rng.randint(1, 2) if kind == frames.Kind.PUSH else 1
        mine = [next(numbers) for _ in range(size)]
        payload = b""
        if kind == frames.Kind.PUSH:
            payload = b"".join(number.to_bytes(2, "little") for number in mine)
        elif kind == frames.Kind.ACCESS:
            payload = b"\0\0" + mine[0].to_bytes(4, "little")
        due += mine
        before = user.resends
        try:
            reply = user.exchange(kind, channel, payload)
        except (_Killed, TimeoutError) as error:
            # Only a device that was reset is silent.
            if isinstance(error, TimeoutError) and seen["reset"] == resets:
                raise
            user, resets = new_host(), seen["reset"]
            continue
        seen["resends"] += user.resends - before
        if kind == frames.Kind.PULL:
            for start in range(0, len(reply.payload), 2):
                record = int.from_bytes(reply.payload[start : start + 2], "little")
                assert record > last[channel], f"record {record} after {last[channel]}"
                last[channel] = record
        elif not reply.code & frames.REFUSED:
            sure.update(mine)
    rest = iter(due)
    assert all(number in rest for number in target.done), "done twice, or in another order"
    assert sure <= set(target.done), "answered, but not done"
    return seen
