"""Golden model of the device's end of the host link."""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.link.frames import (
    ADDRESS_BYTES,
    CHANNELS,
    DATA_BYTES,
    MAX_PAYLOAD_BYTES,
    REFUSED,
    REPLY,
    SEQUENCES,
    Decoder,
    Frame,
    Kind,
    encode,
)
from racetrap.golden_model.link.hello import Hello


class LinkTarget(Protocol):
    """Queues of records and registers behind a device's link."""

    def push(self, channel: int, record: int) -> None:
        """Take a record; never called without credit."""

    def credits(self, channel: int) -> int:
        """Records that an input channel can take now."""

    def pull(self, channel: int) -> int | None:
        """Give the oldest record of an output channel; None if there is none."""

    def read(self, address: int) -> int | None:
        """Read a register; None if it answers with an error."""

    def write(self, address: int, data: int) -> bool:
        """Write a register; False if it answers with an error."""


class LinkDevice:
    """Executes requests, each exactly once, and answers them.

    A request is executed if its sequence follows that of the previous request.  A repeated sequence
    means that the reply was lost: the kept reply is sent again.  Any other request, and everything
    before HELLO, is dropped.  HELLO is always executed.

    Parameters
    ----------
    target : LinkTarget
        Queues and registers.
    hello : Hello
        Identity and sizes of the device.
    """

    def __init__(self, target: LinkTarget, hello: Hello) -> None:
        self._target, self._hello, self._decoder = target, hello, Decoder()
        self._last, self._kept = 0, b""  # no reply is kept before HELLO
        self._parts = [b""] * hello.inputs  # of records that are not complete

    def receive(self, data: bytes) -> bytes:
        """Take bytes from the line; return the bytes to send."""
        return b"".join(map(self._answer, self._decoder.feed(data)))

    def _answer(self, frame: Frame) -> bytes:
        kind, channel = divmod(frame.code, CHANNELS)
        steps = (frame.sequence - self._last) % SEQUENCES
        is_known = kind == Kind.HELLO or (self._kept and steps <= 1)
        if frame.code & REPLY or not is_known:
            return b""
        if kind == Kind.HELLO or steps == 1:
            self._last = frame.sequence
            reply = self._execute(kind, channel, frame.payload)
            code = REPLY if reply is not None else REPLY | REFUSED
            self._kept = encode(Frame(self._last, code, reply or b""))
        return self._kept

    def _execute(self, kind: int, channel: int, payload: bytes) -> bytes | None:
        """Payload of the reply; None if the request is refused."""
        if kind == Kind.HELLO:
            return self._hello.to_payload()
        if kind == Kind.ACCESS:
            return self._access(payload)
        if channel >= (self._hello.inputs if kind == Kind.PUSH else self._hello.outputs):
            return None
        return self._push(channel, payload) if kind == Kind.PUSH else self._pull(channel)

    def _push(self, channel: int, payload: bytes) -> bytes | None:
        size, parts = self._hello.input_bytes, self._parts
        if len(payload) > self._room(channel):
            return None
        parts[channel] += payload
        while len(parts[channel]) >= size:
            self._target.push(channel, int.from_bytes(parts[channel][:size], "little"))
            parts[channel] = parts[channel][size:]
        return self._room(channel).to_bytes(2, "little")

    def _room(self, channel: int) -> int:
        return self._target.credits(channel) * self._hello.input_bytes - len(self._parts[channel])

    def _pull(self, channel: int) -> bytes:
        size, records = self._hello.output_bytes, b""
        while len(records) + size <= MAX_PAYLOAD_BYTES:
            if (record := self._target.pull(channel)) is None:
                break
            records += record.to_bytes(size, "little")
        return records

    def _access(self, payload: bytes) -> bytes | None:
        address = int.from_bytes(payload[:ADDRESS_BYTES], "little")
        if len(payload) == ADDRESS_BYTES:
            read = self._target.read(address)
            return None if read is None else read.to_bytes(DATA_BYTES, "little")
        data = int.from_bytes(payload[ADDRESS_BYTES:], "little")
        is_whole = len(payload) == ADDRESS_BYTES + DATA_BYTES
        return b"" if is_whole and self._target.write(address, data) else None
