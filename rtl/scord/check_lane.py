"""Check lane: a bank's part of a metadata port, from packets with entries to steps and reports.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.scord.detector_bank import COUNTERS
from racetrap.golden_model.scord.packets import PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.metadata_accessor import checked_packet, packet_with_entry
from racetrap.rtl.scord.check_pipeline import CheckPipeline
from racetrap.rtl.scord.report_encoder import ReportEncoder

#: Pulses of a bank, one an event.
BANK_PULSES = (*COUNTERS, "reports_dropped")


def pulses_layout(params: ScordParams, *more: str) -> data.StructLayout:
    """One bit for each pulse of a bank, and for further ones; ``fences`` is a number."""
    widths = dict.fromkeys((*BANK_PULSES, *more), 1)
    return data.StructLayout(widths | {"fences": params.fence_lanes.bit_length()})


def trace_signature(params: ScordParams) -> stream.Signature:
    """The trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.step_layout), always_ready=True)


class CheckLane(wiring.Component):
    """Checks one packet a cycle, counts events and queues reports.

    Detection never waits for reports: while the FIFO is full they are dropped and counted.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank for its reports, a constant.
    i : ``In(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets, in order.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        As that of ``CheckPipeline``.
    i_clear : ``In(1)``
        Pulse: reset the fence file; nothing may be in the pipeline.
    o_busy : ``Out(1)``
        High while that lasts.
    o_idle : ``Out(1)``
        No report is held here.
    o_report : ``Out(stream.Signature(report_layout))``
        Races found; ``sequence`` is 0.
    o_count : ``Out(pulses_layout(params))``
        One pulse for each event that is counted.
    trace : ``Out(trace_signature(params))``
        Every step, in order.
    trace_fences : ``Out(trace_signature(params)).array(fence_lanes - 1)``
        Steps of the other fences that are counted in the same cycle.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_bank": In(range(params.banks)),
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(stream.Signature(struct_layout(params.report_layout))),
            "o_count": Out(pulses_layout(params)),
            "trace": Out(trace_signature(params)),
            "trace_fences": Out(trace_signature(params)).array(params.fence_lanes - 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.pipeline = pipeline = CheckPipeline(self._params)
        connect(m, flipped(self.i), pipeline.i)
        connect(m, pipeline.o_checked, flipped(self.o_checked))
        connect(m, pipeline.o_step, flipped(self.trace))
        for fence, trace in zip(pipeline.o_fences, self.trace_fences, strict=True):
            connect(m, fence, flipped(trace))
        m.d.comb += [
            pipeline.i_clear.eq(self.i_clear),
            self.o_busy.eq(pipeline.o_busy),
        ]
        self._elaborate_reports(m, pipeline)
        self._elaborate_counts(m, pipeline)
        return m

    def _elaborate_reports(self, m, pipeline):
        params = self._params
        report = struct_layout(params.report_layout)
        m.submodules.encoder = encoder = ReportEncoder(params)
        m.submodules.reports = reports = StreamFifo(report, params.report_fifo_depth)
        connect(m, reports.o, flipped(self.o_report))
        m.d.comb += [
            encoder.i_bank.eq(self.i_bank),
            encoder.i_step.eq(pipeline.o_step.p),
            reports.i.payload.eq(encoder.o_report),
            reports.i.valid.eq(pipeline.o_step.valid & (pipeline.o_step.p.race != RaceKind.NONE)),
            self.o_count.reports_dropped.eq(reports.i.valid & ~reports.i.ready),
            self.o_idle.eq(reports.o_empty),
        ]

    def _elaborate_counts(self, m, pipeline):
        count, step = self.o_count, pipeline.o_step.p
        is_fence = step.packet.kind == PacketKind.FENCE
        is_access = step.row != TableRow.UNMONITORED
        is_one = pipeline.o_step.valid & is_fence
        m.d.comb += count.fences.eq(sum((fence.valid for fence in pipeline.o_fences), is_one))
        with m.If(pipeline.o_step.valid):
            m.d.comb += [
                count.unmonitored.eq(~is_access),
                count.accesses.eq(is_access & ~is_fence),
                count.tag_conflicts.eq(step.tag_conflict),
                count.metadata_read_errors.eq(step.read_error),
            ]
            m.d.comb += [
                count[f"preliminary_{check.name.lower()}"].eq(step.preliminary == check)
                for check in Preliminary
                if check
            ]
            m.d.comb += [
                count[f"races_{race.name.lower()}"].eq(step.race == race)
                for race in RaceKind
                if race
            ]
