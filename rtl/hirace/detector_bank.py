"""Detector bank: the entries of its words behind a metadata port, and the state machine on them.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.hirace.detector_bank import COUNTERS
from racetrap.golden_model.hirace.packets import RaceKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.region import region_layout
from racetrap.rtl.hirace.check_pipeline import CheckPipeline, trace_signature
from racetrap.rtl.hirace.entry_locator import EntryLocator
from racetrap.rtl.hirace.report_encoder import ReportEncoder

#: Events that a bank counts, with one pulse each.
PULSES = (*COUNTERS, "metadata_write_errors", "stall_cycles", "reports_dropped")


class DetectorBank(wiring.Component):
    """Checks packets in the order in which they arrive.

    Throughput is one packet a cycle while metadata answers in time: with a memory that answers
    ``latency`` cycles after the request, ``outstanding`` must cover read, check and write.
    Detection never waits for reports: while the FIFO is full they are dropped and counted.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank, a constant.
    i_packet : ``In(stream.Signature(segment_layout))``
        Accesses of this bank's words.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory.
    i_region : ``In(region_layout(params))``
        Monitored region; constant while the bank is not idle.
    i_clear : ``In(1)``
        Pulse, while the bank is idle: make metadata uninitialised, as at kernel launch.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on; no packet is taken.
    o_idle : ``Out(1)``
        No packet, write or report is pending here.
    o_report : ``Out(stream.Signature(report_layout))``
        Races; ``sequence`` is 0.
    o_count : ``Out({name: 1})``
        One pulse for each event that is counted, by ``PULSES``.
    trace : ``Out(trace_signature(params))``
        Every step, in order; only with ``trace_port``.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        members = {
            "i_bank": In(range(params.banks)),
            "i_packet": In(stream.Signature(struct_layout(params.segment_layout))),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(stream.Signature(struct_layout(params.report_layout))),
            "o_count": Out(data.StructLayout(dict.fromkeys(PULSES, 1))),
        }
        if params.trace_port:
            members["trace"] = Out(trace_signature(params))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params, count = self._params, self.o_count
        packet = struct_layout(params.segment_layout)
        m.submodules.fifo = fifo = StreamFifo(packet, params.packet_fifo_depth)
        m.submodules.locator = locator = EntryLocator(params)
        m.submodules.accessor = accessor = MetadataAccessor(params)
        m.submodules.pipeline = pipeline = CheckPipeline(params)
        connect(m, fifo.o, locator.i)
        connect(m, locator.o, accessor.i)
        connect(m, accessor.o[0], pipeline.i)
        connect(m, pipeline.o_checked, accessor.i_checked[0])
        connect(m, accessor.m_axi, flipped(self.m_axi))
        if params.trace_port:
            connect(m, pipeline.o_step, flipped(self.trace))
        reports_idle = self._elaborate_reports(m, pipeline)
        self._elaborate_counts(m, pipeline)
        is_empty = fifo.o_empty & ~locator.o.valid
        m.d.comb += [
            fifo.i.valid.eq(self.i_packet.valid & ~self.o_busy),
            fifo.i.payload.eq(self.i_packet.payload),
            self.i_packet.ready.eq(fifo.i.ready & ~self.o_busy),
            locator.i_region.eq(self.i_region),
            accessor.i_entries_log2.eq(locator.o_entries_log2),
            accessor.i_port.eq(self.i_bank),
            accessor.i_region.eq(self.i_region),
            accessor.i_clear.eq(self.i_clear),
            self.o_busy.eq(accessor.o_busy),
            self.o_idle.eq(is_empty & accessor.o_idle & ~self.o_busy & reports_idle),
            count.stall_cycles.eq(self.i_packet.valid & ~self.i_packet.ready),
            count.metadata_write_errors.eq(accessor.o_write_error),
        ]
        return m

    def _elaborate_reports(self, m: Module, pipeline: CheckPipeline):
        """Report FIFO; returns whether it is empty."""
        params = self._params
        m.submodules.encoder = encoder = ReportEncoder(params)
        report = struct_layout(params.report_layout)
        m.submodules.reports = reports = StreamFifo(report, params.report_fifo_depth)
        connect(m, reports.o, flipped(self.o_report))
        step = pipeline.o_step
        m.d.comb += [
            encoder.i_bank.eq(self.i_bank),
            encoder.i_step.eq(step.p),
            reports.i.payload.eq(encoder.o_report),
            reports.i.valid.eq(step.valid & (step.p.race != RaceKind.NONE)),
            self.o_count.reports_dropped.eq(reports.i.valid & ~reports.i.ready),
        ]
        return reports.o_empty

    def _elaborate_counts(self, m: Module, pipeline: CheckPipeline) -> None:
        count, step = self.o_count, pipeline.o_step.p
        with m.If(pipeline.o_step.valid):
            m.d.comb += [
                count.accesses.eq(step.monitored),
                count.unmonitored.eq(~step.monitored),
                count.metadata_read_errors.eq(step.read_error),
                *(
                    count[f"races_{kind.name.lower()}"].eq(step.race == kind)
                    for kind in RaceKind
                    if kind
                ),
            ]
