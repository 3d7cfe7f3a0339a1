"""The whole SigRace detector: core units and the Race Detection Module.

Ref: SigRace (ISCA'09) Section 3, Fig. 5; Section 4.3.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.axi import AxiLiteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.message_arbiter import MessageArbiter
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.sigrace.core_unit import CoreUnit
from racetrap.rtl.sigrace.rdm import Rdm
from racetrap.rtl.sigrace.rdm_controller import trace_member, trace_ports
from racetrap.rtl.sigrace.step_recorder import core_trace_signature


class SigraceSystem(wiring.Component):
    """A core unit for each hardware context, and one Race Detection Module.

    Ports of core units are numbered core * contexts + context.  The contexts of a core share
    one link to the RDM, a message at a time.  Nothing is checked before ``CONTROL.enable`` is
    set.  No combinational path leads from a ``valid`` input to a ``ready`` output.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_event : ``In(stream.Signature(event_layout)).array(cores * contexts)``
        Events of each context, in program order.
    o_trap : ``Out(stream.Signature(trap_layout)).array(cores * contexts)``
        Trap records of each context.
    o_timestamp, o_trt : ``Out(timestamp_width).array(cores * contexts)``
        Timestamp (TS), and timestamp to reach (TRT).
    o_thread : ``Out(thread_bits).array(cores * contexts)``
        SigRaceID.
    o_mode, o_conflicting : ``Out(2)`` and ``Out(1)``, each ``.array(cores * contexts)``
        Operation Mode (OM), and the CT flag.
    o_idle : ``Out(1)``
        No event, message or software request is in flight.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in ``sigrace.rdl``.
    irq : ``Out(1)``
        High while a rollback is requested, if enabled.
    trace_core : ``Out(core_trace_signature(params)).array(cores * contexts)``
        Every event of each context; only with ``trace_port``.
    trace_rdm : ``Out(step_signature(params))``
        Every step of the RDM; only with ``trace_port``, and an array with several ``scanners``.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        units = params.cores * params.contexts
        members = {
            "i_event": In(stream.Signature(struct_layout(params.event_layout))).array(units),
            "o_trap": Out(stream.Signature(struct_layout(params.trap_layout))).array(units),
            "o_timestamp": Out(params.timestamp_width).array(units),
            "o_trt": Out(params.timestamp_width).array(units),
            "o_thread": Out(params.thread_bits).array(units),
            "o_mode": Out(2).array(units),
            "o_conflicting": Out(1).array(units),
            "o_idle": Out(1),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
        }
        if params.trace_port:
            members["trace_core"] = Out(core_trace_signature(params)).array(units)
            members["trace_rdm"] = trace_member(params)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.rdm = rdm = Rdm(params)
        connect(m, flipped(self.s_axil), rdm.s_axil)
        if params.trace_port:
            for step, port in zip(trace_ports(rdm.trace), trace_ports(self.trace_rdm), strict=True):
                connect(m, step, flipped(port))
        units, idle = [], [rdm.o_idle]
        for core in range(params.cores):
            of_core = [self._elaborate_unit(m, core, context) for context in range(params.contexts)]
            idle.append(self._connect_link(m, core, of_core, rdm))
            units += of_core
        m.d.comb += [
            rdm.i_saturated.eq(Cat(unit.o_saturated for unit in units).any()),
            self.irq.eq(rdm.irq),
            self.o_idle.eq(Cat(*idle, *(unit.o_idle for unit in units)).all()),
        ]
        return m

    def _elaborate_unit(self, m: Module, core: int, context: int) -> CoreUnit:
        number = core * self._params.contexts + context
        m.submodules[f"core_unit_{number}"] = unit = CoreUnit(self._params)
        connect(m, flipped(self.i_event[number]), unit.i_event)
        connect(m, unit.o_trap, flipped(self.o_trap[number]))
        if self._params.trace_port:
            connect(m, unit.trace, flipped(self.trace_core[number]))
        m.d.comb += [unit.i_core.eq(core), unit.i_context.eq(context)]
        for name in ("o_timestamp", "o_trt", "o_thread", "o_mode", "o_conflicting"):
            m.d.comb += getattr(self, name)[number].eq(getattr(unit, name))
        return unit

    def _connect_link(self, m: Module, core: int, units: list[CoreUnit], rdm: Rdm) -> Value:
        """Merge the messages of a core's contexts; returns whether none is between unit and RDM."""
        if len(units) == 1:
            connect(m, units[0].o_message, rdm.i_message[core])
            return Const(1)
        flit = struct_layout(self._params.flit_layout)
        m.submodules[f"context_arbiter_{core}"] = arbiter = MessageArbiter(flit, len(units))
        for unit, port in zip(units, arbiter.i, strict=True):
            connect(m, unit.o_message, port)
        assign_stream(m, rdm.i_message[core], arbiter.o, arbiter.o.p.flit)
        return ~arbiter.o.valid
