"""Executes requests, each exactly once, and keeps the reply.

The golden model is ``golden_model.link.device.LinkDevice``.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import (
    MAX_PAYLOAD_BYTES,
    PROTOCOL_VERSION,
    REPLY,
    Counters,
    Hello,
    Kind,
    Status,
)
from racetrap.rtl.link.layouts import Header, PayloadRead, PayloadWrite
from racetrap.rtl.link.register_access import Response, access_layout

__all__ = ["Executor"]

_ADDRESS_BYTES = 2
_DATA_BYTES = 4
_COUNTER_BYTES = 2 * len(Counters._fields)
#: Address of the byte of a reply to PULL that says whether more records wait.
_MORE = 1
_PULL_HEAD = 2


class Executor(wiring.Component):
    """Takes requests, in their order, and offers a reply to each.

    Nothing happens while a reply is offered.  A request is then looked at for one cycle; it is
    executed in about as many cycles as it and its reply have bytes, but for an access to a
    register, which takes as long as the register does.  The request is taken in the cycle in
    which its reply is first seen.

    Parameters
    ----------
    hello : Hello
        What HELLO answers; the credits are those of the moment.
    output_bits : int
        Bits of an output record.
    address_bits : int
        Bits of a register's address, up to 16.

    Members
    -------
    i : ``In(stream.Signature(Header))``
        Headers of requests.
    m_payload : ``Out(PayloadRead())``
        Payload of the request that is offered.
    o : ``Out(stream.Signature(Header))``
        Headers of replies.
    m_reply : ``Out(PayloadWrite())``
        Memory of the reply's payload.
    o_push : ``Out(stream.Signature(8)).array(inputs)``
        Bytes of input records; must be ready some time as long as there is credit.
    i_credits : ``In(8).array(inputs)``
        Records that each input channel can take.
    i_record : ``In(stream.Signature(output_bits)).array(outputs)``
        Output records; taken with their last byte.
    o_access, i_response : streams of ``access_layout(address_bits)`` and ``Response``
        To ``RegisterAccess``.
    o_counter : ``Out(4)``, i_counter : ``In(8)``
        To ``LinkCounters``.
    o_duplicate, o_gap : ``Out(1)``
        High for one cycle for each request that is not executed.
    o_link_up : ``Out(1)``
        A good HELLO was executed.
    """

    def __init__(self, hello: Hello, *, output_bits: int, address_bits: int):
        self._hello = hello
        self._address_bits = address_bits
        super().__init__({
            "i": In(stream.Signature(Header)),
            "m_payload": Out(PayloadRead()),
            "o": Out(stream.Signature(Header)),
            "m_reply": Out(PayloadWrite()),
            "o_push": Out(stream.Signature(8)).array(hello.inputs),
            "i_credits": In(8).array(hello.inputs),
            "i_record": In(stream.Signature(output_bits)).array(hello.outputs),
            "o_access": Out(stream.Signature(access_layout(address_bits))),
            "i_response": In(stream.Signature(Response)),
            "o_counter": Out(range(_COUNTER_BYTES)),
            "i_counter": In(8),
            "o_duplicate": Out(1),
            "o_gap": Out(1),
            "o_link_up": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._status = Signal(8)
        self._channel = Signal(8)
        #: Bytes or records still to be moved, and records of a PUSH so far.
        self._remaining = Signal(8)
        self._records = Signal(8)
        self._operand = Signal(8 * (_ADDRESS_BYTES + _DATA_BYTES))
        #: Payload bytes of the reply so far; the status is byte 0, but is written last.
        self._length = self.o.p.length
        self._next_byte = Signal()
        self._is_copied = Signal()
        self._pointer = Signal(8)
        m.d.comb += [
            # The memory shows the byte at the pointer in every cycle.
            self.m_payload.address.eq(self._pointer + self._next_byte),
            self.m_reply.address.eq(self._length),
            self.o_counter.eq(self._length - 1),
        ]
        m.d.sync += self._pointer.eq(self.m_payload.address)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.FSM():
            self._idle(m)
            self._dispatch(m)
            self._hello_states(m)
            self._push_states(m)
            self._pull_states(m)
            self._register_states(m)
            self._counter_states(m)
            self._finish(m)
        return m

    def _idle(self, m: Module) -> None:
        request, reply = self.i.p, self.o.p
        with m.State("IDLE"), m.If(self.i.valid & ~self.o.valid):
            is_last = request.sequence == reply.sequence
            is_next = request.sequence == (reply.sequence + 1)[:8]
            with m.If((request.kind == Kind.HELLO) | (self.o_link_up & is_next)):
                m.d.sync += [
                    reply.kind.eq(request.kind | REPLY),
                    reply.sequence.eq(request.sequence),
                    self._length.eq(1),
                    self._status.eq(Status.OK),
                    self._remaining.eq(request.length - 1),
                    self._records.eq(0),
                ]
                m.next = "DISPATCH"
            with m.Else():
                is_duplicate = self.o_link_up & is_last
                m.d.comb += [
                    self.i.ready.eq(1),
                    self.o_duplicate.eq(is_duplicate),
                    self.o_gap.eq(~is_duplicate),
                ]
                m.d.sync += self.o.valid.eq(is_duplicate)

    def _dispatch(self, m: Module) -> None:
        """Check the length; the first byte of the payload, if it has one, is here."""
        length, first = self.i.p.length, self.m_payload.data
        with m.State("DISPATCH"):
            m.d.sync += self._channel.eq(first)
            with m.Switch(self.i.p.kind):
                with m.Case(Kind.HELLO):
                    is_good = (length == 1) & (first == PROTOCOL_VERSION)
                    m.d.sync += [
                        self.o_link_up.eq(is_good),
                        self._status.eq(Mux(is_good, Status.OK, Status.BAD_REQUEST)),
                    ]
                    m.next = "HELLO"
                for kind, is_good, state in (
                    (Kind.PUSH, (length != 0) & (first < self._hello.inputs), "PUSH_COUNT"),
                    (Kind.PULL, (length == 2) & (first < self._hello.outputs), "PULL_COUNT"),
                    (Kind.READ, length == _ADDRESS_BYTES, "OPERAND"),
                    (Kind.WRITE, length == _ADDRESS_BYTES + _DATA_BYTES, "OPERAND"),
                    (Kind.COUNTERS, length == 0, "COUNTERS"),
                ):
                    with m.Case(kind):
                        # Whether it is good is known too late for the address of the memory.
                        m.d.comb += self._next_byte.eq(state != "OPERAND")
                        with m.If(is_good):
                            m.next = state
                        with m.Else():
                            self._fail(m, Status.BAD_REQUEST)
                with m.Default():
                    self._fail(m, Status.UNKNOWN_KIND)

    def _fail(self, m: Module, status: Status) -> None:
        m.d.sync += self._status.eq(status)
        m.next = "FINISH"

    def _write(self, m: Module, byte: Value) -> None:
        """Append a byte to the reply."""
        m.d.comb += [self.m_reply.enable.eq(1), self.m_reply.data.eq(byte)]
        m.d.sync += self._length.eq(self._length + 1)

    def _hello_states(self, m: Module) -> None:
        constant = self._hello.to_payload()[1 : -self._hello.inputs]
        rom = [Const(byte, 8) for byte in constant] + list(self.i_credits)
        with m.State("HELLO"):
            self._write(m, Array(rom)[self._length - 1])
            with m.If(self._length == len(rom)):
                m.next = "FINISH"

    def _push_states(self, m: Module) -> None:
        size = self._hello.input_bytes
        credit = Array(self.i_credits)[self._channel]
        with m.State("PUSH_COUNT"):
            with m.If(self._remaining >= size):
                m.d.sync += self._remaining.eq(self._remaining - size)
                m.d.sync += self._records.eq(self._records + 1)
            with m.Elif(self._remaining != 0):
                self._fail(m, Status.BAD_REQUEST)
            with m.Elif(self._records > credit):
                m.d.sync += self._status.eq(Status.NO_CREDIT)
                m.next = "PUSH_CREDIT"
            with m.Else():
                m.d.sync += self._remaining.eq(self.i.p.length - 1)
                m.next = "PUSH_COPY"
        for number, push in enumerate(self.o_push):
            m.d.comb += push.payload.eq(self.m_payload.data)
            m.d.comb += push.valid.eq(self._is_copied & (self._channel == number))
        with m.State("PUSH_COPY"):
            with m.If(self._remaining == 0):
                m.next = "PUSH_CREDIT"
            with m.Else():
                m.d.comb += self._is_copied.eq(1)
                with m.If(Array(push.ready for push in self.o_push)[self._channel]):
                    m.d.sync += self._remaining.eq(self._remaining - 1)
                    m.d.comb += self._next_byte.eq(1)
        with m.State("PUSH_CREDIT"):
            self._write(m, credit)
            m.next = "FINISH"

    def _pull_states(self, m: Module) -> None:
        size = self._hello.output_bytes
        record = Array(stream.payload for stream in self.i_record)[self._channel]
        is_valid = Array(stream.valid for stream in self.i_record)[self._channel]
        is_taken = Signal()
        position = Signal(range(size))
        for number, output in enumerate(self.i_record):
            m.d.comb += output.ready.eq(is_taken & (self._channel == number))
        with m.State("PULL_COUNT"):
            m.d.sync += [self._remaining.eq(self.m_payload.data), self._length.eq(_PULL_HEAD)]
            m.next = "PULL_NEXT"
        with m.State("PULL_NEXT"):
            has_room = self._length <= MAX_PAYLOAD_BYTES - size
            with m.If(is_valid & has_room & (self._remaining != 0)):
                m.d.sync += self._remaining.eq(self._remaining - 1)
                m.next = "PULL_COPY"
            with m.Else():
                m.d.comb += [
                    self.m_reply.enable.eq(1),
                    self.m_reply.address.eq(_MORE),
                    self.m_reply.data.eq(is_valid),
                ]
                m.next = "FINISH"
        with m.State("PULL_COPY"):
            self._write(m, Value.cast(record).word_select(position, 8))
            m.d.sync += position.eq(position + 1)
            with m.If(position == size - 1):
                m.d.sync += position.eq(0)
                m.d.comb += is_taken.eq(1)
                m.next = "PULL_NEXT"

    def _register_states(self, m: Module) -> None:
        operand, response, access = self._operand, self.i_response, self.o_access
        address = operand[: 8 * _ADDRESS_BYTES]
        m.d.comb += [
            access.p.address.eq(address),
            access.p.data.eq(operand[8 * _ADDRESS_BYTES :]),
            access.p.write.eq(self.i.p.kind == Kind.WRITE),
        ]
        with m.State("OPERAND"):
            # The address comes to its place only after as many bytes as a WRITE has.
            m.d.comb += self._next_byte.eq(1)
            m.d.sync += operand.eq(Cat(operand[8:], self.m_payload.data))
            m.d.sync += self._records.eq(self._records + 1)
            with m.If(self._records == _ADDRESS_BYTES + _DATA_BYTES - 1):
                m.next = "ACCESS"
        with m.State("ACCESS"):
            with m.If(address[self._address_bits :].any()):
                self._fail(m, Status.BAD_REQUEST)
            with m.Else():
                m.d.comb += [access.valid.eq(1), response.ready.eq(1)]
                with m.If(response.valid):
                    m.d.sync += operand[8 * _ADDRESS_BYTES :].eq(response.p.data)
                    m.next = "FINISH"
                    with m.If(response.p.error):
                        self._fail(m, Status.REGISTER_ERROR)
                    with m.Elif(~access.p.write):
                        m.next = "DATA"
        with m.State("DATA"):
            self._write(m, operand[8 * _ADDRESS_BYTES :][:8])
            m.d.sync += operand.eq(operand[8:])
            with m.If(self._length == _DATA_BYTES):
                m.next = "FINISH"

    def _counter_states(self, m: Module) -> None:
        with m.State("COUNTERS"):
            self._write(m, self.i_counter)
            with m.If(self._length == _COUNTER_BYTES):
                m.next = "FINISH"

    def _finish(self, m: Module) -> None:
        with m.State("FINISH"):
            m.d.comb += [
                self.m_reply.enable.eq(1),
                self.m_reply.address.eq(0),
                self.m_reply.data.eq(self._status),
                self.m_payload.address.eq(0),
                self.i.ready.eq(1),
            ]
            m.d.sync += self.o.valid.eq(1)
            m.next = "IDLE"
