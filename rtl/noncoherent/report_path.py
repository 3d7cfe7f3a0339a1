"""Report path: from races, without back-pressure, to the ring buffer in memory."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.axi import Axi4WriteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.noncoherent.layouts import report_signature


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
        address_bits = params.address_bits
        super().__init__({
            "i_report": In(report_signature(params)),
            "m_axi": Out(Axi4WriteSignature(address_bits=address_bits, data_bits=64, id_bits=1)),
            "i_base": In(address_bits),
            "i_capacity_log2": In(5),
            "i_tail": In(32),
            "o_head": Out(32),
            "o_full": Out(1),
            "o_written": Out(1),
            "o_dropped": Out(2),
            "o_write_error": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        layout = self._params.report_layout
        m.submodules.queue = queue = StreamFifo(
            struct_layout(layout), self._params.report_fifo_depth
        )
        m.submodules.writer = writer = ReportWriter(layout, self._params.address_bits)
        wiring.connect(m, queue.o, writer.i)
        wiring.connect(m, writer.m_axi, wiring.flipped(self.m_axi))
        report = self.i_report
        m.d.comb += [
            queue.i.payload.eq(report.payload),
            queue.i.valid.eq(report.valid),
            writer.i_base.eq(self.i_base),
            writer.i_capacity_log2.eq(self.i_capacity_log2),
            writer.i_tail.eq(self.i_tail),
            self.o_head.eq(writer.o_head),
            self.o_full.eq(writer.o_full),
            self.o_written.eq(writer.o_written),
            self.o_dropped.eq((report.valid & ~queue.i.ready) + writer.o_dropped),
            self.o_write_error.eq(writer.o_write_error),
            self.o_idle.eq(queue.o_empty & writer.o_idle),
        ]
        return m
