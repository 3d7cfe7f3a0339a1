"""State of the request that an executor is at, which the states of all its requests share."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, Value, ValueLike

from racetrap.golden_model.link.frames import Status

#: Bytes of a register's address and of its value in a request.
ADDRESS_BYTES = 2
DATA_BYTES = 4


class Execution:
    """A request, and the reply that grows meanwhile.

    The states of a request are added to the executor's state machine by functions, which take
    this object; the last of them goes on to state ``FINISH``.

    Parameters
    ----------
    request, reply : view of Header
        Headers of the request and of the reply.
    payload : PayloadRead
        The request's payload: the byte at the pointer, or at the next place.
    output : PayloadWrite
        Memory of the reply's payload.

    Attributes
    ----------
    status : Signal
        Byte 0 of the reply, which is written last.
    channel : Signal
        First byte of the request.
    remaining : Signal
        Bytes or records still to be moved.
    records : Signal
        Records of a PUSH, or bytes of an operand, so far.
    next_byte : Signal
        The pointer moves on in this cycle.
    """

    def __init__(self, request: Any, reply: Any, payload: Any, output: Any):
        self.request, self.reply, self.payload, self.output = request, reply, payload, output
        self.status = Signal(8)
        self.channel = Signal(8)
        self.remaining = Signal(8)
        self.records = Signal(8)
        self.next_byte = Signal()

    @property
    def length(self) -> Value:
        """Bytes of the reply so far, with the status."""
        return self.reply.length

    def append(self, m: Module, byte: ValueLike) -> None:
        """Append a byte to the reply."""
        m.d.comb += [self.output.enable.eq(1), self.output.data.eq(byte)]
        m.d.sync += self.length.eq(self.length + 1)

    def fail(self, m: Module, status: Status) -> None:
        """End the request with a status other than OK."""
        m.d.sync += self.status.eq(status)
        m.next = "FINISH"
