"""Way of the race reports from the banks to memory.

Ref: ScoRD (ISCA'20) Section IV (the host is told of races through a buffer in memory).
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.axi import Axi4WriteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.report_filter import ReportFilter
from racetrap.rtl.scord.report_writer import ReportWriter

__all__ = ["ReportPath"]


class ReportPath(wiring.Component):
    """Merges the banks' reports round robin, keeps repeats back and writes the rest.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(report_layout)).array(banks)``
        Reports of each bank.
    m_axi, i_base, i_capacity_log2, i_tail, o_head, o_full, o_written, o_dropped, o_write_error
        As those of ``ReportWriter``.
    i_filter_enable, i_clear : ``In(1)``, o_suppressed, o_busy : ``Out(1)``
        As those of ``ReportFilter``.
    o_idle : ``Out(1)``
        No report is held here.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        self._shape = struct_layout(params.report_layout)
        super().__init__({
            "i": In(stream.Signature(self._shape)).array(params.banks),
            "m_axi": Out(
                Axi4WriteSignature(address_bits=params.address_bits, data_bits=64, id_bits=1)
            ),
            "i_base": In(params.address_bits),
            "i_capacity_log2": In(5),
            "i_tail": In(32),
            "i_filter_enable": In(1),
            "i_clear": In(1),
            "o_head": Out(32),
            "o_full": Out(1),
            "o_written": Out(1),
            "o_dropped": Out(1),
            "o_suppressed": Out(1),
            "o_write_error": Out(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = StreamArbiter(self._shape, self._params.banks)
        m.submodules.filter = report_filter = ReportFilter(self._params)
        m.submodules.writer = writer = ReportWriter(self._params)
        for bank in range(self._params.banks):
            wiring.connect(m, wiring.flipped(self.i[bank]), arbiter.i[bank])
        wiring.connect(m, arbiter.o, report_filter.i)
        wiring.connect(m, report_filter.o, writer.i)
        wiring.connect(m, writer.m_axi, wiring.flipped(self.m_axi))
        for name in ("i_base", "i_capacity_log2", "i_tail"):
            m.d.comb += getattr(writer, name).eq(getattr(self, name))
        for name in ("o_head", "o_full", "o_written", "o_dropped", "o_write_error"):
            m.d.comb += getattr(self, name).eq(getattr(writer, name))
        m.d.comb += [
            report_filter.i_enable.eq(self.i_filter_enable),
            report_filter.i_clear.eq(self.i_clear),
            self.o_suppressed.eq(report_filter.o_suppressed),
            self.o_busy.eq(report_filter.o_busy),
            self.o_idle.eq(~arbiter.o.valid & report_filter.o_idle & writer.o_idle),
        ]
        return m
