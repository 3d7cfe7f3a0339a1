"""Executor of requests, each exactly once, which keeps the last reply.

The golden model is ``golden_model.link.device.LinkDevice``.
"""

from __future__ import annotations

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import (
    PROTOCOL_VERSION,
    REPLY,
    Counters,
    Hello,
    Kind,
    Status,
)
from racetrap.rtl.link.execution import ADDRESS_BYTES, DATA_BYTES, Execution
from racetrap.rtl.link.layouts import Header, PayloadRead, PayloadWrite
from racetrap.rtl.link.record_states import pull_states, push_states
from racetrap.rtl.link.register_access import Response, access_layout
from racetrap.rtl.link.register_states import register_states

_COUNTER_BYTES = 2 * len(Counters._fields)


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
        hello = self._hello
        execution = Execution(self.i.p, self.o.p, self.m_payload, self.m_reply)
        pointer = Signal(8)
        m.d.comb += [
            # The memory shows the byte at the pointer in every cycle.
            self.m_payload.address.eq(pointer + execution.next_byte),
            self.m_reply.address.eq(execution.length),
            self.o_counter.eq(execution.length - 1),
        ]
        m.d.sync += pointer.eq(self.m_payload.address)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.FSM():
            self._idle_state(m, execution)
            self._dispatch_state(m, execution)
            self._hello_state(m, execution)
            push_states(m, execution, hello.input_bytes, self.o_push, self.i_credits)
            pull_states(m, execution, hello.output_bytes, self.i_record)
            register_states(m, execution, self.o_access, self.i_response)
            self._counters_state(m, execution)
            self._finish_state(m, execution)
        return m

    def _idle_state(self, m: Module, execution: Execution) -> None:
        request, reply = self.i.p, self.o.p
        with m.State("IDLE"), m.If(self.i.valid & ~self.o.valid):
            is_last = request.sequence == reply.sequence
            is_next = request.sequence == (reply.sequence + 1)[:8]
            with m.If((request.kind == Kind.HELLO) | (self.o_link_up & is_next)):
                m.d.sync += [
                    reply.kind.eq(request.kind | REPLY),
                    reply.sequence.eq(request.sequence),
                    execution.length.eq(1),
                    execution.status.eq(Status.OK),
                    execution.remaining.eq(request.length - 1),
                    execution.records.eq(0),
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

    def _dispatch_state(self, m: Module, execution: Execution) -> None:
        """Check the length; the first byte of the payload, if it has one, is here."""
        length, first = self.i.p.length, self.m_payload.data
        with m.State("DISPATCH"):
            m.d.sync += execution.channel.eq(first)
            with m.Switch(self.i.p.kind):
                with m.Case(Kind.HELLO):
                    is_good = (length == 1) & (first == PROTOCOL_VERSION)
                    m.d.sync += [
                        self.o_link_up.eq(is_good),
                        execution.status.eq(Mux(is_good, Status.OK, Status.BAD_REQUEST)),
                    ]
                    m.next = "HELLO"
                for kind, is_good, state in (
                    (Kind.PUSH, (length != 0) & (first < self._hello.inputs), "PUSH_COUNT"),
                    (Kind.PULL, (length == 2) & (first < self._hello.outputs), "PULL_COUNT"),
                    (Kind.READ, length == ADDRESS_BYTES, "OPERAND"),
                    (Kind.WRITE, length == ADDRESS_BYTES + DATA_BYTES, "OPERAND"),
                    (Kind.COUNTERS, length == 0, "COUNTERS"),
                ):
                    with m.Case(kind):
                        # Whether it is good is known too late for the address of the memory.
                        m.d.comb += execution.next_byte.eq(state != "OPERAND")
                        with m.If(is_good):
                            m.next = state
                        with m.Else():
                            execution.fail(m, Status.BAD_REQUEST)
                with m.Default():
                    execution.fail(m, Status.UNKNOWN_KIND)

    def _hello_state(self, m: Module, execution: Execution) -> None:
        constant = self._hello.to_payload()[1 : -self._hello.inputs]
        rom = [Const(byte, 8) for byte in constant] + list(self.i_credits)
        with m.State("HELLO"):
            execution.append(m, Array(rom)[execution.length - 1])
            with m.If(execution.length == len(rom)):
                m.next = "FINISH"

    def _counters_state(self, m: Module, execution: Execution) -> None:
        with m.State("COUNTERS"):
            execution.append(m, self.i_counter)
            with m.If(execution.length == _COUNTER_BYTES):
                m.next = "FINISH"

    def _finish_state(self, m: Module, execution: Execution) -> None:
        with m.State("FINISH"):
            m.d.comb += [
                self.m_reply.enable.eq(1),
                self.m_reply.address.eq(0),
                self.m_reply.data.eq(execution.status),
                self.m_payload.address.eq(0),
                self.i.ready.eq(1),
            ]
            m.d.sync += self.o.valid.eq(1)
            m.next = "IDLE"
