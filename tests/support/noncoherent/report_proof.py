"""Harness for a proof on the report path: what is found is written, dropped or still held."""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.report_path import ReportPath

_COUNT_BITS = 5


class ReportHarness(wiring.Component):
    """A report path with free inputs, and counts of reports.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration, with room for three reports or more.
    forgets : bool
        Whether reports that found the queue full are left out, to see that it shows.
    """

    def __init__(self, params: NoncoherentParams, *, forgets: bool = False):
        self._params, self._forgets = params, forgets
        self._path = ReportPath(params)
        super().__init__({
            "i_valid": In(1), "i_tail": In(32), "i_capacity_log2": In(5), "i_awready": In(1),
            "i_wready": In(1), "i_bvalid": In(1), "i_bresp": In(2),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        path = self._path
        m.submodules.path = inner = path.elaborate(platform)
        queue = inner.submodules.queue
        fifo = queue.elaborate(platform)
        queue.elaborate = lambda platform: fifo
        level = fifo.submodules.queue.level
        axi = path.m_axi
        m.d.comb += [
            path.i_report.valid.eq(self.i_valid),
            path.i_tail.eq(self.i_tail),
            path.i_capacity_log2.eq(self.i_capacity_log2),
            axi.awready.eq(self.i_awready),
            axi.wready.eq(self.i_wready),
            axi.bvalid.eq(self.i_bvalid),
            axi.bresp.eq(self.i_bresp),
        ]
        held = Signal(_COUNT_BITS)
        dropped = path.o_dropped[:1] if self._forgets else path.o_dropped
        m.d.sync += held.eq(held + self.i_valid - path.o_written - dropped)
        m.d.comb += [
            Assert(path.o_idle == (held == 0)),
            # The queue, and the one that is being written.
            Assert(held == level + ~inner.submodules.writer.o_idle),
            Assert(level <= self._params.report_fifo_depth),
        ]
        return m
