"""Detector bank: the entries of its words behind a metadata port, and the decision on each access.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.check_lane import CheckLane
from racetrap.rtl.causality.entry_locator import EntryLocator
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.detector_bank import GpuDetectorBank


class DetectorBank(GpuDetectorBank):
    """Causality's bank, alone behind its metadata port; it reports notices for the collector.

    Branches and warp barriers go through it in order with accesses.  All its streams may take any
    time to and from it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_row : ``In(stream.Signature(row_write_layout))``
        Rows from the collector, of warps without a packet in the bank.  One of an epoch comes when
        no packet is on its way, and is taken when metadata have been written: entries so far count
        as empty, and rows know nothing.  When the numbers of epochs wrap, metadata are cleared.
        ``o_busy`` is high while that lasts.
    o_done : ``Out(stream.Signature(done_layout, always_ready=True))``
        The oldest packet leaves the pipeline, and with that whether it is a notice; a row is taken.
    """

    lane = CheckLane

    def __init__(self, params: CausalityParams):
        row = stream.Signature(struct_layout(params.row_write_layout))
        done = stream.Signature(struct_layout(params.done_layout), always_ready=True)
        super().__init__(params, {"i_row": In(row), "o_done": Out(done)})

    def elaborate(self, platform):
        m = super().elaborate(platform)
        accessor: Any = m.submodules.accessor
        epoch = Signal(self._params.epoch_bits)
        with m.If(self.i_clear):
            m.d.sync += epoch.eq(0)
        with m.Elif(self._begins):
            m.d.sync += epoch.eq(epoch + 1)
        # Entries of an epoch long ago must not pass for those of the new one with its number.
        m.d.comb += accessor.i_clear.eq(self.i_clear | (self._begins & epoch.all()))
        return m

    def _elaborate_location(self, m, fifo, accessor):
        m.submodules.locator = locator = EntryLocator(self._params)
        connect(m, fifo.o, locator.i)
        connect(m, locator.o, accessor.i)
        statements = [
            locator.i_region.eq(self.i_region),
            accessor.i_entries_log2.eq(locator.o_entries_log2),
        ]
        return statements, ~locator.o.valid, []

    def _elaborate_lane(self, m: Module, number: int, accessor) -> CheckLane:
        lane = super()._elaborate_lane(m, number, accessor)
        m.d.comb += accessor.i_hold.eq(lane.o_hold)
        self._elaborate_row(m, lane)
        done, takes_row = self.o_done, self.i_row.valid & self.i_row.ready
        m.d.comb += [
            done.valid.eq(lane.o_leaves | takes_row),
            done.payload.packet.eq(lane.o_leaves),
            done.payload.notice.eq(lane.o_noticed),
            done.payload.row.eq(takes_row),
        ]
        return lane

    def _elaborate_row(self, m: Module, lane: CheckLane) -> None:
        """A row of a warp goes to the lane; of each, whether there has been a ``fence.sc``."""
        row, fenced = self.i_row, Signal(name="fenced")
        self._begins = Signal(name="begins_epoch")
        m.d.comb += [
            self._begins.eq(row.valid & row.p.epoch & self.o_idle),
            lane.i_row.payload.eq(row.p),
            lane.i_row.valid.eq(row.valid & ~row.p.epoch),
            row.ready.eq(Mux(row.p.epoch, self.o_idle, lane.i_row.ready)),
            lane.i_epoch.eq(self._begins),
            lane.i_fenced.eq(fenced),
        ]
        with m.If(self.i_clear):
            m.d.sync += fenced.eq(0)
        with m.Elif(row.valid & row.ready & row.p.fenced):
            m.d.sync += fenced.eq(1)
