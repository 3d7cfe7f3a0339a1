"""Report path: from races, without back-pressure, to the ring buffer in memory."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import forward_ports, ports_like
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.noncoherent.layouts import report_signature

_WRITER_PORTS = (
    "i_base", "i_capacity_log2", "i_tail", "o_head", "o_full", "o_written",
)  # fmt: skip


class ReportPath(wiring.Component):
    """Holds reports until they are in memory; while it is full, reports are dropped and counted.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_report : ``In({valid, payload: report_layout})``
        Reports, without back-pressure.
    m_axi : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer.
    i_base, i_capacity_log2, i_tail, o_head, o_full, o_written, o_write_error
        As of ``ReportWriter``.
    o_dropped : ``Out(2)``
        Reports lost in this cycle: queue full, ring full, or an error response.
    o_idle : ``Out(1)``
        No report is held here.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        self._writer = ReportWriter(params.report_layout, params.address_bits)
        super().__init__({
            "i_report": In(report_signature(params)),
            **ports_like(self._writer, "m_axi", *_WRITER_PORTS, "o_dropped", "o_write_error"),
            "o_dropped": Out(2),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        report_layout = struct_layout(self._params.report_layout)
        m.submodules.queue = queue = StreamFifo(report_layout, self._params.report_fifo_depth)
        m.submodules.writer = writer = self._writer
        wiring.connect(m, queue.o, writer.i)
        wiring.connect(m, writer.m_axi, wiring.flipped(self.m_axi))
        report = self.i_report
        m.d.comb += [
            queue.i.payload.eq(report.payload),
            queue.i.valid.eq(report.valid),
        ]
        forward_ports(m, self, writer, *_WRITER_PORTS)
        m.d.comb += [
            self.o_dropped.eq((report.valid & ~queue.i.ready) + writer.o_dropped),
            self.o_write_error.eq(writer.o_write_error),
            self.o_idle.eq(queue.o_empty & writer.o_idle),
        ]
        return m
