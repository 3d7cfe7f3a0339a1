"""One detector bank: metadata accessor, fence file, detection logic, and the reports they make.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.scord.packets import PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo, StreamRegister
from racetrap.rtl.scord.check_pipeline import CheckPipeline
from racetrap.rtl.scord.counters import pulses_layout
from racetrap.rtl.scord.metadata_accessor import MetadataAccessor, located_packet
from racetrap.rtl.scord.metadata_port import metadata_port
from racetrap.rtl.scord.region import RegionDecoder, region_layout
from racetrap.rtl.scord.report_encoder import ReportEncoder

__all__ = ["DetectorBank", "trace_signature"]


def trace_signature(params: ScordParams) -> stream.Signature:
    """The trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.step_layout), always_ready=True)


class DetectorBank(wiring.Component):
    """Checks packets in the order in which they arrive.

    Throughput is one packet a cycle while metadata answers in time: with a memory that answers
    ``latency`` cycles after the request, ``outstanding`` must cover read, check and write.
    Detection never waits for reports: those that find the FIFO full are dropped and counted.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    bank : int
        Number of this bank.

    Members
    -------
    i_packet : ``In(stream.Signature(packet_layout))``
        Accesses of this bank's entries, and all fences.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory.
    i_region : ``In(region_layout(params))``
        Monitored region; constant while the bank is not idle.
    i_clear : ``In(1)``
        Pulse, while the bank is idle: make metadata uninitialised and reset the fence file, as at
        kernel launch.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on; no packet is taken.
    o_idle : ``Out(1)``
        No packet, write or report is unfinished here.
    o_report : ``Out(stream.Signature(report_layout))``
        Races found; ``sequence`` is 0.
    o_count : ``Out(pulses_layout())``
        One pulse for each event that is counted.
    trace : ``Out(trace_signature(params))``
        Every step, in order; only with ``trace_port``.
    """

    def __init__(self, params: ScordParams, bank: int):
        if not 0 <= bank < params.banks:
            raise ValueError(f"Bank must be from 0 to {params.banks - 1}, not {bank}")
        self._params = params
        self._bank = bank
        members = {
            "i_packet": In(stream.Signature(struct_layout(params.packet_layout))),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(stream.Signature(struct_layout(params.report_layout))),
            "o_count": Out(pulses_layout()),
        }  # fmt: skip
        if params.trace_port:
            members["trace"] = Out(trace_signature(params))
        super().__init__(members)

    def elaborate(self, platform):
        params = self._params
        m = Module()
        m.submodules.accessor = accessor = MetadataAccessor(params, self._bank)
        m.submodules.pipeline = pipeline = CheckPipeline(params)
        front_idle = self._elaborate_location(m, accessor)
        report_idle = self._elaborate_reports(m, pipeline)
        connect(m, accessor.m_axi, flipped(self.m_axi))
        connect(m, accessor.o, pipeline.i)
        m.d.comb += [
            accessor.i_region.eq(self.i_region),
            accessor.i_clear.eq(self.i_clear),
            pipeline.i_clear.eq(self.i_clear),
            accessor.i_checked.valid.eq(pipeline.o_step.valid),
            accessor.i_checked.payload.eq(pipeline.o_checked),
            self.o_busy.eq(accessor.o_busy | pipeline.o_busy),
            self.o_idle.eq(front_idle & accessor.o_idle & ~self.o_busy & report_idle),
        ]
        if params.trace_port:
            connect(m, pipeline.o_step, flipped(self.trace))
        self._elaborate_counts(m, accessor, pipeline)
        return m

    def _elaborate_location(self, m, accessor):
        """Packet FIFO and region decoder."""
        params = self._params
        packet = struct_layout(params.packet_layout)
        m.submodules.fifo = fifo = StreamFifo(packet, params.packet_fifo_depth)
        m.submodules.decoder = decoder = RegionDecoder(params)
        m.submodules.located = located = StreamRegister(located_packet(params))
        connect(m, located.o, accessor.i)
        m.d.comb += [
            fifo.i.valid.eq(self.i_packet.valid & ~self.o_busy),
            fifo.i.payload.eq(self.i_packet.payload),
            self.i_packet.ready.eq(fifo.i.ready & ~self.o_busy),
            decoder.i_region.eq(self.i_region),
            decoder.i_word.eq(fifo.o.p.word),
            accessor.i_entries_log2.eq(decoder.o_entries_log2),
            located.i.valid.eq(fifo.o.valid),
            fifo.o.ready.eq(located.i.ready),
            located.i.p.packet.eq(fifo.o.p),
            located.i.p.monitored.eq(decoder.o_monitored & (fifo.o.p.kind != PacketKind.FENCE)),
            located.i.p.index.eq(decoder.o_index),
            located.i.p.tag.eq(decoder.o_tag),
        ]
        return fifo.o_empty & ~located.o.valid

    def _elaborate_reports(self, m, pipeline):
        params = self._params
        report = struct_layout(params.report_layout)
        m.submodules.encoder = encoder = ReportEncoder(params, self._bank)
        m.submodules.reports = reports = StreamFifo(report, params.report_fifo_depth)
        connect(m, reports.o, flipped(self.o_report))
        m.d.comb += [
            encoder.i_step.eq(pipeline.o_step.p),
            reports.i.payload.eq(encoder.o_report),
            reports.i.valid.eq(pipeline.o_step.valid & (pipeline.o_step.p.race != RaceKind.NONE)),
            self.o_count.reports_dropped.eq(reports.i.valid & ~reports.i.ready),
        ]
        return reports.o_empty

    def _elaborate_counts(self, m, accessor, pipeline):
        count, step = self.o_count, pipeline.o_step.p
        is_fence = step.packet.kind == PacketKind.FENCE
        is_access = step.row != TableRow.UNMONITORED
        m.d.comb += [
            count.stall_cycles.eq(self.i_packet.valid & ~self.i_packet.ready),
            count.metadata_write_errors.eq(accessor.o_write_error),
        ]
        with m.If(pipeline.o_step.valid):
            m.d.comb += [
                count.fences.eq(is_fence),
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
