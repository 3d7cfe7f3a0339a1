"""Detector banks that share a metadata port: accessor, and a check lane for each bank.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo, StreamRegister
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor, located_segment
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.region import RegionDecoder, region_layout
from racetrap.rtl.gpu.region_table import RegionLocator
from racetrap.rtl.gpu.valid_table import ValidTable, valid_bit
from racetrap.rtl.scord.check_lane import BANK_PULSES, CheckLane, pulses_layout, trace_signature

#: Pulses of a metadata port; its first bank gives them.
PORT_PULSES = ("stall_cycles", "metadata_write_errors")


class DetectorBank(wiring.Component):
    """Checks segments in the order in which they arrive, all words of one in the same cycle.

    The words of a segment belong to the ``words_per_cycle`` banks of one metadata port, one word to
    each; a bank behaves as if it were alone. Throughput is one segment a cycle while metadata
    answers in time: with a memory that answers ``latency`` cycles after the request,
    ``outstanding`` must cover read, check and write. Detection never waits for reports: while the
    FIFO is full they are dropped and counted.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_port : ``In(range(metadata_ports))``
        Number of the metadata port, a constant; its banks follow one another.
    i_packet : ``In(stream.Signature(segment_layout))``
        Accesses of these banks' entries, and all fences.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory.
    i_region : ``In(region_layout(params))``
        Monitored region; constant while the bank is not idle.
    i_clear : ``In(1)``
        Pulse, while the bank is idle: make metadata uninitialised and reset the fence files, as at
        kernel launch.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on; no packet is taken.
    o_idle : ``Out(1)``
        No packet, write or report is pending here.
    o_report : ``Out(stream.Signature(report_layout)).array(words_per_cycle)``
        Races that each bank finds; ``sequence`` is 0.
    o_count : ``Out(pulses_layout(params, *PORT_PULSES)).array(words_per_cycle)``
        One pulse for each event that is counted; the port's own are the first bank's.
    trace : ``Out(trace_signature(params)).array(words_per_cycle)``
        Every step of each bank, in order; only with ``trace_port``.
    trace_fences : ``Out(trace_signature(params)).array(words_per_cycle * (fence_lanes - 1))``
        For each bank, steps of the other fences that it counts in the same cycle; likewise.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        words = params.words_per_cycle
        report = stream.Signature(struct_layout(params.report_layout))
        members = {
            "i_port": In(range(params.metadata_ports)),
            "i_packet": In(stream.Signature(struct_layout(params.segment_layout))),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(report).array(words),
            "o_count": Out(pulses_layout(params, *PORT_PULSES)).array(words),
        }
        if params.trace_port:
            trace = Out(trace_signature(params))
            members["trace"] = trace.array(words)
            members["trace_fences"] = trace.array(words * (params.fence_lanes - 1))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        m.submodules.accessor = accessor = MetadataAccessor(self._params)
        front_idle, clears_table = self._elaborate_location(m, accessor)
        lanes = self._elaborate_lanes(m, accessor)
        connect(m, accessor.m_axi, flipped(self.m_axi))
        is_busy = [*clears_table, *(lane.o_busy for lane in lanes)]
        m.d.comb += [
            accessor.i_port.eq(self.i_port),
            accessor.i_region.eq(self.i_region),
            accessor.i_clear.eq(self.i_clear),
            self.o_busy.eq(accessor.o_busy | Cat(is_busy).any()),
            self.o_idle.eq(
                front_idle
                & accessor.o_idle
                & ~self.o_busy
                & Cat(lane.o_idle for lane in lanes).all()
            ),
            self.o_count[0].stall_cycles.eq(self.i_packet.valid & ~self.i_packet.ready),
            self.o_count[0].metadata_write_errors.eq(accessor.o_write_error),
        ]
        return m

    def _elaborate_location(self, m, accessor):
        """Segment FIFO, decoder of the region or locator in the table, table of valid segments.

        Returns whether it is empty, and whether the table, if there is one, is being cleared.
        """
        params = self._params
        segment = struct_layout(params.segment_layout)
        m.submodules.fifo = fifo = StreamFifo(segment, params.packet_fifo_depth)
        entrance = [
            fifo.i.valid.eq(self.i_packet.valid & ~self.o_busy),
            fifo.i.payload.eq(self.i_packet.payload),
            self.i_packet.ready.eq(fifo.i.ready & ~self.o_busy),
        ]
        table = None
        if params.valid_segments:
            m.submodules.valid_table = table = ValidTable(params)
            m.d.comb += table.i_clear.eq(self.i_clear)
        if params.regions > 1:
            m.submodules.locator = locator = RegionLocator(params)
            connect(m, fifo.o, locator.i)
            connect(m, locator.o, table.i if table else accessor.i)
            m.d.comb += [*entrance, locator.i_region.eq(self.i_region)]
            is_empty = fifo.o_empty & locator.o_empty
        else:
            m.submodules.decoder = decoder = RegionDecoder(params)
            located = table
            if located is None:
                m.submodules.located = located = StreamRegister(located_segment(params))
                connect(m, located.o, accessor.i)
            m.d.comb += [*entrance, *self._decode(accessor, fifo, decoder, located.i)]
            is_empty = fifo.o_empty & ~located.o.valid
        if table is None:
            return is_empty, []
        connect(m, table.o, accessor.i)
        return is_empty & ~table.o.valid, [table.o_busy]

    def _decode(self, accessor, fifo, decoder, located):
        """Statements that locate a segment from the FIFO in a single region."""
        params = self._params
        statements = [
            decoder.i_region.eq(self.i_region),
            decoder.i_word.eq(fifo.o.p.word),
            accessor.i_entries_log2.eq(decoder.o_entries_log2),
            located.valid.eq(fifo.o.valid),
            fifo.o.ready.eq(located.ready),
            located.p.segment.eq(fifo.o.p),
            located.p.monitored.eq(decoder.o_monitored & (fifo.o.p.kind != PacketKind.FENCE)),
            located.p.index.eq(decoder.o_index),
            located.p.tag.eq(decoder.o_tag),
        ]
        if params.valid_segments:
            bit, has_bit = valid_bit(params, decoder.o_index)
            statements += [
                located.p.bit.eq(bit), located.p.is_new.eq(located.p.monitored & has_bit),
            ]  # fmt: skip
        return statements

    def _elaborate_lanes(self, m, accessor):
        words, lanes = self._params.words_per_cycle, []
        for number in range(words):
            lane = CheckLane(self._params)
            m.submodules[f"lane_{number}"] = lane
            connect(m, accessor.o[number], lane.i)
            connect(m, lane.o_checked, accessor.i_checked[number])
            connect(m, lane.o_report, flipped(self.o_report[number]))
            m.d.comb += [
                lane.i_bank.eq(words * self.i_port + number),
                lane.i_clear.eq(self.i_clear),
            ]
            count = self.o_count[number]
            m.d.comb += [count[name].eq(lane.o_count[name]) for name in BANK_PULSES]
            if number:
                m.d.comb += [count[name].eq(0) for name in PORT_PULSES]
            if self._params.trace_port:
                connect(m, lane.trace, flipped(self.trace[number]))
                others = self._params.fence_lanes - 1
                for fence in range(others):
                    port = self.trace_fences[number * others + fence]
                    connect(m, lane.trace_fences[fence], flipped(port))
            lanes.append(lane)
        return lanes
