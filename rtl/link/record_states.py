"""States of the requests that move records: PUSH and PULL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Module, Signal, Value

from racetrap.golden_model.link.frames import MAX_PAYLOAD_BYTES, Status
from racetrap.rtl.link.execution import Execution

#: Address of the byte of a reply to PULL that says whether more records wait.
_MORE = 1
_PULL_HEAD = 2


def push_states(
    m: Module, execution: Execution, size: int, pushes: Sequence[Any], credits: Sequence[Value]
) -> None:
    """PUSH: count the records, compare with the credit, copy, and reply with the credit left.

    Parameters
    ----------
    m : Module
        Module, inside the state machine; the first state is ``PUSH_COUNT``.
    execution : Execution
        The request.
    size : int
        Bytes of a record.
    pushes : sequence of streams of bytes
        Input channels.
    credits : sequence of Value
        Records that each can take.
    """
    remaining, channel = execution.remaining, execution.channel
    credit = Array(credits)[channel]
    is_copied = Signal()
    with m.State("PUSH_COUNT"):
        with m.If(remaining >= size):
            m.d.sync += remaining.eq(remaining - size)
            m.d.sync += execution.records.eq(execution.records + 1)
        with m.Elif(remaining != 0):
            execution.fail(m, Status.BAD_REQUEST)
        with m.Elif(execution.records > credit):
            m.d.sync += execution.status.eq(Status.NO_CREDIT)
            m.next = "PUSH_CREDIT"
        with m.Else():
            m.d.sync += remaining.eq(execution.request.length - 1)
            m.next = "PUSH_COPY"
    for number, push in enumerate(pushes):
        m.d.comb += push.payload.eq(execution.payload.data)
        m.d.comb += push.valid.eq(is_copied & (channel == number))
    with m.State("PUSH_COPY"):
        with m.If(remaining == 0):
            m.next = "PUSH_CREDIT"
        with m.Else():
            m.d.comb += is_copied.eq(1)
            with m.If(Array(push.ready for push in pushes)[channel]):
                m.d.sync += remaining.eq(remaining - 1)
                m.d.comb += execution.next_byte.eq(1)
    with m.State("PUSH_CREDIT"):
        execution.append(m, credit)
        m.next = "FINISH"


def pull_states(m: Module, execution: Execution, size: int, records: Sequence[Any]) -> None:
    """PULL: copy records while there are some, are wanted and have room; say whether more wait.

    Parameters
    ----------
    m : Module
        Module, inside the state machine; the first state is ``PULL_COUNT``.
    execution : Execution
        The request.
    size : int
        Bytes of a record.
    records : sequence of streams
        Output channels.
    """
    remaining, channel, output = execution.remaining, execution.channel, execution.output
    record = Array(stream.payload for stream in records)[channel]
    is_valid = Array(stream.valid for stream in records)[channel]
    is_taken = Signal()
    position = Signal(range(size))
    for number, stream in enumerate(records):
        m.d.comb += stream.ready.eq(is_taken & (channel == number))
    with m.State("PULL_COUNT"):
        m.d.sync += [remaining.eq(execution.payload.data), execution.length.eq(_PULL_HEAD)]
        m.next = "PULL_NEXT"
    with m.State("PULL_NEXT"):
        has_room = execution.length <= MAX_PAYLOAD_BYTES - size
        with m.If(is_valid & has_room & (remaining != 0)):
            m.d.sync += remaining.eq(remaining - 1)
            m.next = "PULL_COPY"
        with m.Else():
            m.d.comb += [
                output.enable.eq(1),
                output.address.eq(_MORE),
                output.data.eq(is_valid),
            ]
            m.next = "FINISH"
    with m.State("PULL_COPY"):
        execution.append(m, Value.cast(record).word_select(position, 8))
        m.d.sync += position.eq(position + 1)
        with m.If(position == size - 1):
            m.d.sync += position.eq(0)
            m.d.comb += is_taken.eq(1)
            m.next = "PULL_NEXT"
