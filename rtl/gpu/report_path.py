"""Report path: race reports from the banks to memory.

Ref: ScoRD (ISCA'20) Section IV (races are reported to the host through a buffer in memory).
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import forward_ports, ports_like
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.gpu.report_filter import ReportFilter

_WRITER_PORTS = (
    "i_base", "i_capacity_log2", "i_tail", "o_head", "o_full", "o_written", "o_dropped",
    "o_write_error",
)  # fmt: skip
_FILTER_PORTS = ("i_clear", "o_suppressed", "o_busy")


class ReportPath(wiring.Component):
    """Merges streams of reports round robin, suppresses repeats and writes the rest.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(report_layout)).array(report_ports)``
        Reports.
    m_axi, i_base, i_capacity_log2, i_tail, o_head, o_full, o_written, o_dropped, o_write_error
        As those of ``ReportWriter``.
    i_filter_enable, i_clear : ``In(1)``, o_suppressed, o_busy : ``Out(1)``
        As those of ``ReportFilter``.
    o_idle : ``Out(1)``
        No report is held here.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        self._shape = struct_layout(params.report_layout)
        self._filter = ReportFilter(params)
        self._writer = ReportWriter(params.report_layout, params.address_bits)
        super().__init__({
            "i": In(stream.Signature(self._shape)).array(params.report_ports),
            **ports_like(self._writer, "m_axi", *_WRITER_PORTS),
            "i_filter_enable": In(1),
            **ports_like(self._filter, *_FILTER_PORTS),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = StreamArbiter(self._shape, len(self.i))
        m.submodules.filter = report_filter = self._filter
        m.submodules.writer = writer = self._writer
        for outer, inner in zip(self.i, arbiter.i, strict=True):
            wiring.connect(m, wiring.flipped(outer), inner)
        wiring.connect(m, arbiter.o, report_filter.i)
        wiring.connect(m, report_filter.o, writer.i)
        wiring.connect(m, writer.m_axi, wiring.flipped(self.m_axi))
        forward_ports(m, self, writer, *_WRITER_PORTS)
        forward_ports(m, self, report_filter, *_FILTER_PORTS)
        m.d.comb += [
            report_filter.i_enable.eq(self.i_filter_enable),
            self.o_idle.eq(~arbiter.o.valid & report_filter.o_idle & writer.o_idle),
        ]
        return m
