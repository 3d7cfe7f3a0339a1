"""Golden model of the device's end of the host link."""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.link.frames import (
    MAX_PAYLOAD_BYTES,
    PROTOCOL_VERSION,
    REPLY,
    Counters,
    Decoder,
    Frame,
    Hello,
    Kind,
    Status,
    encode,
)

_SEQUENCES = 256
#: Bytes of a PUSH before its records, and of a reply to PULL before its records.
_PUSH_HEAD, _PULL_HEAD = 1, 2


class LinkTarget(Protocol):
    """What lies behind a device: queues of records and registers."""

    def push(self, channel: int, record: int) -> None:
        """Take a record; never called without credit."""

    def credits(self, channel: int) -> int:
        """Records that an input channel can take now."""

    def pull(self, channel: int) -> int | None:
        """Give the oldest record of an output channel; None if there is none."""

    def waiting(self, channel: int) -> bool:
        """Whether an output channel has a record."""

    def read(self, address: int) -> int | None:
        """Read a register; None if it answers with an error."""

    def write(self, address: int, data: int) -> bool:
        """Write a register; False if it answers with an error."""


class LinkDevice:
    """Executes requests, each exactly once, and answers them.

    A request is executed if its sequence follows that of the request before.  The sequence of
    the request before again means that its reply was lost: the kept reply is sent again.  Any
    other, and everything before a good HELLO, is dropped and counted as a gap.  HELLO is always
    executed; with a wrong version the link goes down.

    Parameters
    ----------
    target : LinkTarget
        Queues and registers.
    system, configuration : int
        What HELLO answers: the system's code, and the hash of the parameters.
    input_bits, inputs, output_bits, outputs : int
        Size of records and number of channels of each direction.
    address_bits : int
        Bits of a register's address, up to 16.

    Attributes
    ----------
    is_up : bool
        A good HELLO was executed.
    uart_framing, uart_overrun : int
        Bytes that the line's receiver knows to be damaged or lost.

    Raises
    ------
    ValueError
        If a record does not fit into a frame, or another number is out of range.
    """

    def __init__(
        self, target: LinkTarget, *, system: int, configuration: int, input_bits: int, inputs: int,
        output_bits: int, outputs: int, address_bits: int = 16,
    ) -> None:  # fmt: skip
        check_integer("Link input bits", input_bits, 1, 8 * (MAX_PAYLOAD_BYTES - _PUSH_HEAD))
        check_integer("Link output bits", output_bits, 1, 8 * (MAX_PAYLOAD_BYTES - _PULL_HEAD))
        check_integer("Link address bits", address_bits, 1, 16)
        self._target = target
        self._system, self._configuration = system, configuration
        self._input_bits, self._inputs = input_bits, inputs
        self._outputs = outputs
        self._input_bytes, self._output_bytes = -(-input_bits // 8), -(-output_bits // 8)
        self._address_bits = address_bits
        self._decoder = Decoder()
        self._last = 0
        self._kept = b""
        self._duplicates = self._gaps = 0
        self.is_up = False
        self.uart_framing = self.uart_overrun = 0

    @property
    def counters(self) -> Counters:
        decoder = self._decoder
        return Counters(
            decoder.frames, decoder.bad_crc, decoder.bad_length, decoder.too_long,
            self._duplicates, self._gaps, self.uart_framing, self.uart_overrun,
        )  # fmt: skip

    def receive(self, data: bytes) -> bytes:
        """Take bytes from the line; gives the bytes to send."""
        return b"".join(
            self._answer(frame)
            for index in range(len(data))
            for frame in self._decoder.feed(data[index : index + 1])
        )

    def framing_error(self) -> None:
        """A byte came without a stop bit."""
        self.uart_framing += 1
        self._decoder.spoil()

    def overrun(self) -> None:
        """A byte was lost since the byte before it had not been taken."""
        self.uart_overrun += 1
        self._decoder.spoil()

    def _answer(self, frame: Frame) -> bytes:
        if frame.kind != Kind.HELLO:
            if self.is_up and frame.sequence == self._last:
                self._duplicates += 1
                return self._kept
            if not self.is_up or frame.sequence != (self._last + 1) % _SEQUENCES:
                self._gaps += 1
                return b""
        self._last = frame.sequence
        reply = self._execute(frame.kind, frame.payload)
        self._kept = encode(Frame(frame.kind | REPLY, frame.sequence, reply))
        return self._kept

    def _execute(self, kind: int, payload: bytes) -> bytes:
        """Payload of the reply; only a status if it is not OK, but for HELLO and lack of credit."""
        if kind == Kind.HELLO:
            return self._hello(payload)
        if kind == Kind.PUSH:
            return self._push(payload)
        if kind == Kind.PULL:
            return self._pull(payload)
        if kind == Kind.READ:
            return self._read(payload)
        if kind == Kind.WRITE:
            return self._write(payload)
        if kind == Kind.COUNTERS:
            return bytes([Status.BAD_REQUEST]) if payload else self.counters.to_payload()
        return bytes([Status.UNKNOWN_KIND])

    def _hello(self, payload: bytes) -> bytes:
        self.is_up = payload == bytes([PROTOCOL_VERSION])
        return Hello(
            status=Status.OK if self.is_up else Status.BAD_REQUEST,
            version=PROTOCOL_VERSION,
            system=self._system,
            configuration=self._configuration,
            inputs=self._inputs,
            input_bytes=self._input_bytes,
            outputs=self._outputs,
            output_bytes=self._output_bytes,
            credits=tuple(self._target.credits(channel) for channel in range(self._inputs)),
        ).to_payload()

    def _push(self, payload: bytes) -> bytes:
        size = self._input_bytes
        if not payload or payload[0] >= self._inputs or (len(payload) - _PUSH_HEAD) % size:
            return bytes([Status.BAD_REQUEST])
        channel = payload[0]
        starts = range(_PUSH_HEAD, len(payload), size)
        if len(starts) > self._target.credits(channel):
            return bytes([Status.NO_CREDIT, self._target.credits(channel)])
        for start in starts:
            record = int.from_bytes(payload[start : start + size], "little")
            self._target.push(channel, record & (1 << self._input_bits) - 1)
        return bytes([Status.OK, self._target.credits(channel)])

    def _pull(self, payload: bytes) -> bytes:
        if len(payload) != 2 or payload[0] >= self._outputs:
            return bytes([Status.BAD_REQUEST])
        channel, most = payload
        records = b""
        for _ in range(min(most, (MAX_PAYLOAD_BYTES - _PULL_HEAD) // self._output_bytes)):
            if (record := self._target.pull(channel)) is None:
                break
            records += record.to_bytes(self._output_bytes, "little")
        return bytes([Status.OK, self._target.waiting(channel)]) + records

    def _read(self, payload: bytes) -> bytes:
        address = int.from_bytes(payload, "little")
        if len(payload) != 2 or address >> self._address_bits:
            return bytes([Status.BAD_REQUEST])
        data = self._target.read(address)
        if data is None:
            return bytes([Status.REGISTER_ERROR])
        return bytes([Status.OK]) + data.to_bytes(4, "little")

    def _write(self, payload: bytes) -> bytes:
        address = int.from_bytes(payload[:2], "little")
        if len(payload) != 6 or address >> self._address_bits:
            return bytes([Status.BAD_REQUEST])
        is_good = self._target.write(address, int.from_bytes(payload[2:], "little"))
        return bytes([Status.OK if is_good else Status.REGISTER_ERROR])
