"""The whole bus monitor: a passive listener on a CPU, its DMA engines and memory.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.axi import Axi4WriteSignature, AxiLiteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.noncoherent.axi_monitor import AxiMonitor, bus_signature
from racetrap.rtl.noncoherent.layouts import trace_signature
from racetrap.rtl.noncoherent.monitor import Monitor
from racetrap.rtl.noncoherent.registers import compile_registers, supplied_constants
from racetrap.rtl.noncoherent.report_path import ReportPath
from racetrap.rtl.noncoherent.row_splitter import RowSplitter


class NoncoherentSystem(wiring.Component):
    """Row splitter, monitor, report path and registers.

    A row takes effect five cycles after its operation was taken, or after the rows before it; while
    the queue is full reports are dropped, so operations never wait for memory.  Nothing is checked
    before ``CONTROL.enable`` is set.  No combinational path leads from a ``valid`` input to a
    ``ready`` output.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_operation : ``In(stream.Signature(operation_layout))``
        Operations of the CPU and, when it issues them, of the engines, in program order.
    i_axi : ``In(bus_signature)``
        The engines' bus, observed; only with ``observes_bus``.  Its operations go before the
        CPU's.
    m_axi_report : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer, 64-bit data.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in ``noncoherent.rdl``.
    irq : ``Out(1)``
        High while the ring buffer holds reports that software has not read, if enabled.
    trace : ``Out({valid, payload: step_layout})``
        Each row checked, without back-pressure; only with ``trace_port``.

    Attributes
    ----------
    is_idle : Signal
        ``STATUS.idle``, for a design around it that stops its clock then; no port.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        self.is_idle = Signal()
        members = {
            "i_operation": In(stream.Signature(struct_layout(params.operation_layout))),
            "m_axi_report": Out(
                Axi4WriteSignature(address_bits=params.address_bits, data_bits=64, id_bits=1)
            ),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
        }
        if params.observes_bus:
            members["i_axi"] = In(bus_signature(params))
        if params.trace_port:
            members["trace"] = Out(trace_signature(params))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.registers = registers = RegisterBlock(compile_registers(params))
        m.submodules.splitter = splitter = RowSplitter(params)
        m.submodules.monitor = monitor = Monitor(params)
        m.submodules.report_path = report_path = ReportPath(params)
        wiring.connect(m, wiring.flipped(self.s_axil), registers.s_axil)
        bus_lost, bus_idle = self._take_operations(m, splitter)
        wiring.connect(m, splitter.o, monitor.i)
        wiring.connect(m, monitor.o_report, report_path.i_report)
        wiring.connect(m, report_path.m_axi, wiring.flipped(self.m_axi_report))
        if params.trace_port:
            wiring.connect(m, monitor.trace, wiring.flipped(self.trace))
        registers.supply(m, supplied_constants(params))
        is_held = splitter.o.valid | ~monitor.o_idle | ~report_path.o_idle
        base = Cat(registers.report_base_lo.value, registers.report_base_hi.value)
        tail = registers.report_tail.value
        m.d.comb += [
            monitor.i_enable.eq(registers.control.enable),
            monitor.i_clear.eq(registers.control.clear),
            report_path.i_base.eq(base),
            report_path.i_capacity_log2.eq(registers.report_capacity_log2.value),
            report_path.i_tail.eq(tail),
            registers.report_head.value.eq(report_path.o_head),
            self.is_idle.eq(bus_idle & ~is_held),
            registers.status.idle.eq(self.is_idle),
            registers.status.ring_full.eq(report_path.o_full),
        ]
        m.d.sync += self.irq.eq(registers.control.interrupt_enable & (report_path.o_head != tail))
        is_empty = splitter.o_empty & registers.control.enable
        self._count(m, registers, monitor, report_path, bus_lost, is_empty)
        return m

    def _take_operations(self, m: Module, splitter: RowSplitter) -> tuple[Value, Value]:
        """Merge operations of the bus, which cannot wait and go first, with the CPU's.

        Returns the number of bursts lost, and whether the bus queue is empty.
        """
        if not self._params.observes_bus:
            wiring.connect(m, wiring.flipped(self.i_operation), splitter.i)
            return Const(0), Const(1)
        m.submodules.axi_monitor = bus = AxiMonitor(self._params)
        wiring.connect(m, wiring.flipped(self.i_axi), bus.i_axi)
        operation, is_of_bus = self.i_operation, bus.o_operation.valid
        m.d.comb += [
            splitter.i.valid.eq(operation.valid | is_of_bus),
            splitter.i.payload.eq(
                Mux(is_of_bus, Value.cast(bus.o_operation.payload), Value.cast(operation.payload))
            ),
            bus.o_operation.ready.eq(splitter.i.ready),
            operation.ready.eq(splitter.i.ready & ~is_of_bus),
        ]
        return bus.o_lost, bus.o_idle

    def _count(
        self, m: Module, registers: RegisterBlock, monitor: Monitor, report_path: ReportPath,
        bus_lost: Value, is_empty: Value,
    ) -> None:  # fmt: skip
        report, operation = monitor.o_report, self.i_operation
        hits = (report.payload.dma, report.payload.cache)
        definite = sum(report.valid & hit.definite for hit in hits)
        possible = sum(report.valid & hit.found & ~hit.definite for hit in hits)
        increments = {
            "rows": monitor.o_step,
            "races_definite": definite,
            "races_possible": possible,
            "compactions": monitor.o_compacted,
            "stall_cycles": operation.valid & ~operation.ready,
            "reports_written": report_path.o_written,
            "reports_dropped": report_path.o_dropped,
            "report_write_errors": report_path.o_write_error,
            "bursts_lost": bus_lost,
            "empty_operations": is_empty,
        }
        registers.count(m, increments, registers.control.clear_counters)
