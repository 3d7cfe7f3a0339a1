"""Race Detection Module: compares every block with the recorded blocks of all other threads.

Ref: SigRace (ISCA'09) Sections 3.2 and 3.3.1, Fig. 5(a); Section 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import COUNTERS
from racetrap.rtl.common.axi import AxiLiteSignature
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.message_arbiter import MessageArbiter
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.common.stream import StreamFifo, assign_stream
from racetrap.rtl.sigrace.conflict_log import ConflictLog
from racetrap.rtl.sigrace.core_to_thread import CoreToThread
from racetrap.rtl.sigrace.decompressor import Decompressor
from racetrap.rtl.sigrace.rdm_controller import RdmController, trace_member, trace_ports
from racetrap.rtl.sigrace.registers import compile_registers, supplied_constants


class Rdm(wiring.Component):
    """Links, decompressors, CoreToThread, BlockHistoryQueues with their scanners, log, registers.

    Messages are decompressed while the one before is compared.  A decompressor serves every
    ``decompressors``-th link round robin, a message at a time.  Nothing is checked before
    ``CONTROL.enable`` is set.  No combinational path leads from a ``valid`` input to a ``ready``
    output.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_message : ``In(stream.Signature(flit_layout)).array(cores)``
        Summary messages of each core; its contexts take turns by message.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in ``sigrace.rdl``.
    irq : ``Out(1)``
        High while a rollback is requested, if enabled.
    i_saturated : ``In(1)``
        A timestamp counter has saturated in some core unit.
    o_idle : ``Out(1)``
        No message, flush or clearing of the log is in progress here.
    trace : ``Out(step_signature(params))``
        Every step, without back-pressure; only with ``trace_port``.  With several ``scanners``
        there is an array of one for each.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        flit = struct_layout(params.flit_layout)
        members = {
            "i_message": In(stream.Signature(flit)).array(params.cores),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
            "i_saturated": In(1),
            "o_idle": Out(1),
        }
        if params.trace_port:
            members["trace"] = trace_member(params)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.registers = registers = RegisterBlock(compile_registers(params))
        m.submodules.controller = controller = RdmController(params)
        m.submodules.core_to_thread = core_to_thread = CoreToThread(params)
        m.submodules.log = log = ConflictLog(params)
        connect(m, flipped(self.s_axil), registers.s_axil)
        if params.trace_port:
            for step, port in zip(controller.o_step, trace_ports(self.trace), strict=True):
                connect(m, step, flipped(port))

        is_empty = Signal()
        m.d.comb += is_empty.eq(self._elaborate_links(m, controller))
        self._connect_tables(m, controller, core_to_thread, log)
        self._connect_control(m, registers, controller)
        self._connect_software(m, registers, core_to_thread, log)
        self._connect_counters(m, registers, controller)
        m.d.comb += [
            self.o_idle.eq(is_empty & controller.o_idle),
            registers.status.idle.eq(self.o_idle),
            registers.status.reasons.eq(log.o_reasons),
            registers.status.saturated.eq(self.i_saturated),
        ]
        m.d.sync += self.irq.eq(registers.control.irq_enable & (log.o_reasons != 0))
        return m

    def _elaborate_links(self, m: Module, controller: RdmController) -> Value:
        """From the links to the controller; returns whether this path is empty."""
        params, several = self._params, self._params.decompressors
        links = []
        for core, port in enumerate(self.i_message):
            fifo = StreamFifo(struct_layout(params.flit_layout), params.link_depth)
            m.submodules[f"link_{core}"] = fifo
            connect(m, flipped(port), fifo.i)
            links.append(fifo)
        ways = [self._elaborate_way(m, number, links[number::several]) for number in range(several)]
        # Round robin: the first that offers a message after the one served last.
        offered, after = Cat(one.o.valid for one, *_ in ways), Signal(several)
        candidates = Mux((offered & after).any(), offered & after, offered)
        grant = Signal(several)
        m.d.comb += [
            grant.eq(candidates & -candidates),
            controller.i.valid.eq(offered.any()),
            Value.cast(controller.i.p.summary).eq(
                one_hot_select(grant, (Value.cast(one.o.payload) for one, *_ in ways))
            ),
            controller.i.p.link.eq(one_hot_select(grant, (link for _, link, _ in ways))),
        ]
        for (decompressor, *_), chosen in zip(ways, grant, strict=True):
            m.d.comb += decompressor.o.ready.eq(chosen & controller.i.ready)
        with m.If(controller.i.valid & controller.i.ready):
            m.d.sync += after.eq(Cat(grant[:number].any() for number in range(several)))
        return Cat(*(link.o_empty for link in links), *(is_empty for *_, is_empty in ways)).all()

    def _elaborate_way(
        self, m: Module, number: int, links: Sequence[StreamFifo]
    ) -> tuple[Decompressor, Value, Value]:
        """A decompressor for some links, the link of its message, and whether it has none."""
        params = self._params
        arbiter = MessageArbiter(struct_layout(params.flit_layout), len(links))
        m.submodules[f"arbiter_{number}"] = arbiter
        m.submodules[f"decompressor_{number}"] = decompressor = Decompressor(params)
        for fifo, port in zip(links, arbiter.i, strict=True):
            connect(m, fifo.o, port)
        assign_stream(m, decompressor.i, arbiter.o, arbiter.o.p.flit)
        # All flits of a message come over one link, and the next one's come while it is offered.
        source, link = Signal.like(arbiter.o.p.source), Signal(range(params.cores))
        with m.If(arbiter.o.valid & arbiter.o.ready):
            m.d.sync += source.eq(arbiter.o.p.source)
        with m.If(decompressor.o_complete):
            m.d.sync += link.eq(source * params.decompressors + number)
        return decompressor, link, ~arbiter.o.valid & decompressor.o_idle

    def _connect_tables(
        self, m: Module, controller: RdmController, table: CoreToThread, log: ConflictLog
    ) -> None:
        arrival = controller.o_arrival
        connect(m, controller.o_log, log.i_entry)
        m.d.comb += [
            table.i_header.eq(arrival.summary.header),
            table.i_link.eq(arrival.link),
            table.i_is_malformed.eq(arrival.summary.is_malformed),
            controller.i_drop.eq(table.o_drop),
            table.i_follow.eq(controller.o_follow),
            table.i_is_checked.eq(controller.i_enable),
            controller.i_log_full.eq(log.o_full),
            log.i_pushed.eq(controller.o_pushed),
            log.i_thread.eq(arrival.summary.header.thread),
            log.i_cause.eq(arrival.summary.header.cause),
            log.i_clear.eq(controller.o_clear_log),
        ]

    def _connect_control(
        self, m: Module, registers: RegisterBlock, controller: RdmController
    ) -> None:
        registers.supply(m, supplied_constants(self._params))
        control = registers.control
        m.d.comb += [
            controller.i_enable.eq(control.enable),
            controller.i_flush.eq(control.flush),
            controller.i_clear_log.eq(control.clear_log),
        ]
        with m.If(control.clear_counters):
            m.d.sync += registers.status.sequence_gap.eq(0)
        with m.Elif(controller.o_count.dropped_sequence):
            m.d.sync += registers.status.sequence_gap.eq(1)

    def _connect_software(
        self, m: Module, registers: RegisterBlock, table: CoreToThread, log: ConflictLog
    ) -> None:
        """Connect the registers of CoreToThread and the log."""
        mapping = registers.map
        m.d.comb += [
            table.i_place.core.eq(registers.map_select.core),
            table.i_place.context.eq(registers.map_select.context),
            table.i_mapping.valid.eq(mapping.valid.strobe),
            table.i_mapping.p.thread.eq(mapping.thread.data),
            table.i_mapping.p.valid.eq(mapping.valid.data),
            mapping.thread.value.eq(table.o_mapping.thread),
            mapping.valid.value.eq(table.o_mapping.valid),
            registers.map_sequence.expected.eq(table.o_expected),
            registers.log_count.count.eq(log.o_count),
            log.i_select.eq(registers.log_select.entry),
            log.i_word.eq(registers.log_select.word),
            registers.log_data.value.eq(log.o_word),
        ]

    def _connect_counters(
        self, m: Module, registers: RegisterBlock, controller: RdmController
    ) -> None:
        increments = {name: controller.o_count[name] for name in COUNTERS}
        increments["stall_cycles"] = sum(link.valid & ~link.ready for link in self.i_message)
        registers.count(m, increments, registers.control.clear_counters)
