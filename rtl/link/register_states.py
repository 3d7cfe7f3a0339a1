"""States of the requests that access a register: READ and WRITE."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Signal

from racetrap.golden_model.link.frames import Kind, Status
from racetrap.rtl.link.execution import ADDRESS_BYTES, DATA_BYTES, Execution


def register_states(m: Module, execution: Execution, access: Any, response: Any) -> None:
    """READ and WRITE: collect the operand, access the register, reply with what was read.

    Parameters
    ----------
    m : Module
        Module, inside the state machine; the first state is ``OPERAND``.
    execution : Execution
        The request.
    access, response : streams
        To and from ``RegisterAccess``.
    """
    operand = Signal(8 * (ADDRESS_BYTES + DATA_BYTES))
    address, data = operand[: 8 * ADDRESS_BYTES], operand[8 * ADDRESS_BYTES :]
    m.d.comb += [
        access.p.address.eq(address),
        access.p.data.eq(data),
        access.p.write.eq(execution.request.kind == Kind.WRITE),
    ]
    with m.State("OPERAND"):
        # The address comes to its place only after as many bytes as a WRITE has.
        m.d.comb += execution.next_byte.eq(1)
        m.d.sync += operand.eq(Cat(operand[8:], execution.payload.data))
        m.d.sync += execution.records.eq(execution.records + 1)
        with m.If(execution.records == ADDRESS_BYTES + DATA_BYTES - 1):
            m.next = "ACCESS"
    with m.State("ACCESS"):
        with m.If(address[len(access.p.address) :].any()):
            execution.fail(m, Status.BAD_REQUEST)
        with m.Else():
            m.d.comb += [access.valid.eq(1), response.ready.eq(1)]
            with m.If(response.valid):
                m.d.sync += data.eq(response.p.data)
                m.next = "FINISH"
                with m.If(response.p.error):
                    execution.fail(m, Status.REGISTER_ERROR)
                with m.Elif(~access.p.write):
                    m.next = "DATA"
    with m.State("DATA"):
        execution.append(m, data[:8])
        m.d.sync += operand.eq(operand[8:])
        with m.If(execution.length == DATA_BYTES):
            m.next = "FINISH"
