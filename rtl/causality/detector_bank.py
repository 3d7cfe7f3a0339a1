"""Detector bank: the entries of its words behind a metadata port, and the decision on each access.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.check_lane import CheckLane
from racetrap.rtl.causality.entry_locator import EntryLocator
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.detector_bank import GpuDetectorBank


class DetectorBank(GpuDetectorBank):
    """Causality's bank, alone behind its metadata port; it reports notices for the collector.

    Packets that are no accesses go through it in order with the others: a marker becomes a notice
    behind those of all packets before it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_row : ``In(stream.Signature(row_write_layout))``
        Rows from the collector, of warps without a packet in the bank.
    i_fenced : ``In(1)``
        A warp has passed a ``fence.sc`` in this launch.
    i_epoch : ``In(1)``
        Pulse, while the bank is idle: entries so far count as empty, and rows know nothing.  When
        the numbers of epochs wrap, metadata are cleared.  ``o_busy`` is high while that
        lasts.
    o_leaves, o_noticed : ``Out(1)``
        Pulse: the oldest packet leaves the pipeline, and with that whether it is a notice.
    """

    lane = CheckLane

    def __init__(self, params: CausalityParams):
        row = stream.Signature(struct_layout(params.row_write_layout))
        super().__init__(params, {
            "i_row": In(row), "i_fenced": In(1), "i_epoch": In(1), "o_leaves": Out(1),
            "o_noticed": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = super().elaborate(platform)
        accessor: Any = m.submodules.accessor
        epoch = Signal(self._params.epoch_bits)
        with m.If(self.i_clear):
            m.d.sync += epoch.eq(0)
        with m.Elif(self.i_epoch):
            m.d.sync += epoch.eq(epoch + 1)
        # Entries of an epoch long ago must not pass for those of the new one with its number.
        m.d.comb += accessor.i_clear.eq(self.i_clear | (self.i_epoch & epoch.all()))
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
        connect(m, flipped(self.i_row), lane.i_row)
        m.d.comb += [
            lane.i_fenced.eq(self.i_fenced),
            lane.i_epoch.eq(self.i_epoch),
            accessor.i_hold.eq(lane.o_hold),
            self.o_leaves.eq(lane.o_leaves),
            self.o_noticed.eq(lane.o_noticed),
        ]
        return lane
