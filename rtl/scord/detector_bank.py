"""Detector banks that share a metadata port: accessor, and a check lane for each bank.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib.wiring import Out, connect, flipped

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.gpu.check_lane import trace_signature
from racetrap.rtl.gpu.detector_bank import GpuDetectorBank
from racetrap.rtl.gpu.metadata_accessor import located_segment
from racetrap.rtl.gpu.region import RegionDecoder
from racetrap.rtl.gpu.region_table import RegionLocator
from racetrap.rtl.gpu.valid_table import ValidTable, valid_bit
from racetrap.rtl.scord.check_lane import CheckLane
from racetrap.rtl.scord.shared_fence_file import SharedFenceFile


class DetectorBank(GpuDetectorBank):
    """ScoRD's banks of a metadata port; ``i_clear`` resets their fence file, too.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    trace_fences : ``Out(trace_signature(params)).array(words_per_cycle * (fence_lanes - 1))``
        For each bank, steps of the other fences that it counts in the same cycle; only with
        ``trace_port``.
    """

    lane = CheckLane

    def __init__(self, params: ScordParams):
        others = params.words_per_cycle * (params.fence_lanes - 1)
        fences = {"trace_fences": Out(trace_signature(params)).array(others)}
        super().__init__(params, fences if params.trace_port else {})

    @classmethod
    def port_pulses(cls, params):
        own = ("owner_conflicts",) if params.shares_owners else ()
        return (*super().port_pulses(params), *own)

    def elaborate(self, platform):
        if not self._params.shares_owners:
            return super().elaborate(platform)
        self._fence_file = fence_file = SharedFenceFile(self._params)
        m = super().elaborate(platform)
        m.submodules.fence_file = fence_file
        waits = fence_file.banks[0].o_wait
        m.d.comb += [
            m.submodules.accessor.i_hold.eq(waits),
            self.o_count[0].owner_conflicts.eq(waits),
        ]
        return m

    def _elaborate_location(self, m, fifo, accessor):
        """Decoder of the region or locator in the table, and table of valid segments."""
        params = self._params
        table = None
        if params.valid_segments:
            m.submodules.valid_table = table = ValidTable(params)
            m.d.comb += table.i_clear.eq(self.i_clear)
        if params.regions > 1:
            m.submodules.locator = locator = RegionLocator(params)
            connect(m, fifo.o, locator.i)
            connect(m, locator.o, table.i if table else accessor.i)
            statements = [locator.i_region.eq(self.i_region)]
            is_empty = locator.o_empty
        else:
            m.submodules.decoder = decoder = RegionDecoder(params)
            located = table
            if located is None:
                m.submodules.located = located = StreamRegister(located_segment(params))
                connect(m, located.o, accessor.i)
            statements = self._decode(accessor, fifo, decoder, located.i)
            is_empty = ~located.o.valid
        if table is None:
            return statements, is_empty, []
        connect(m, table.o, accessor.i)
        return statements, is_empty & ~table.o.valid, [table.o_busy]

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

    def _elaborate_lane(self, m: Module, number: int, accessor) -> CheckLane:
        lane = super()._elaborate_lane(m, number, accessor)
        if self._params.shares_owners:
            connect(m, lane.lookup, self._fence_file.banks[number])
        if self._params.trace_port:
            first = number * len(lane.trace_fences)
            for fence, trace in enumerate(lane.trace_fences, first):
                connect(m, trace, flipped(self.trace_fences[fence]))
        return lane
