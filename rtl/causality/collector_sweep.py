"""Sweep: the records of all warps one after the other, at launch and when clocks restart.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_work import Work
from racetrap.rtl.common.layout import struct_layout


class Sweep:
    """States of the collector in which it clears records, or begins an epoch.

    Attributes
    ----------
    initial : Signal
        A record of a warp slot that has had no block.
    """

    def __init__(self, params: CausalityParams, m: Module, work: Work, fenced: Signal):
        self._work, self._fenced = work, fenced
        self._place = Signal(params.slot_warp_bits + 1, name="sweep")
        self._last = (params.sm_count << params.warp_bits + 1) - 1
        self.initial = Signal(struct_layout(params.record_layout), name="initial")
        m.d.comb += [
            self.initial.retired.eq(1), work.flags.cleared.eq(self._place),
            *(self.initial[name].eq(1) for name in ("start", "lanes_before", "clock")),
        ]  # fmt: skip

    def elaborate_states(self, m: Module) -> None:
        """Add them; each warp slot is written twice, as it has two places of flags."""
        work, sweep, last = self._work, self._place, self._last
        with m.State("CLEAR"):
            m.d.comb += [
                work.write.en.eq(1), work.write.addr.eq(sweep[1:]), work.flags.clears.eq(1),
                work.write.data.eq(self.initial),
            ]  # fmt: skip
            m.d.sync += [sweep.eq(sweep + 1), work.latest.eq(1), self._fenced.eq(0)]
            with m.If(sweep == last):
                m.d.sync += sweep.eq(0)
                m.next = "IDLE"
        self._elaborate_epoch(m)

    def _elaborate_epoch(self, m: Module) -> None:
        """Each record is read, and written without what is behind."""
        work, sweep, last = self._work, self._place, self._last
        taker = work.learning.taker
        with m.State("EPOCH"):
            m.d.comb += [work.read.en.eq(1), work.read.addr.eq(sweep[1:])]
            m.d.comb += work.flags.clears.eq(1)
            m.d.sync += sweep.eq(sweep + 1)
            m.next = "EPOCH_READ"
        with m.State("EPOCH_READ"):
            m.d.comb += work.flags.clears.eq(1)
            m.d.sync += taker.eq(work.read.data)
            m.next = "EPOCH_WRITE"
        with m.State("EPOCH_WRITE"):
            written = Signal(self.initial.shape(), name="written")
            kept = ("block", "retired", "sc", "ever", "arrived")
            m.d.comb += [
                work.write.en.eq(1), work.write.addr.eq(sweep[1:]), work.write.data.eq(written),
                *(written[name].eq(taker[name]) for name in kept),
                written.clock.eq(1), written.start.eq(1),
            ]  # fmt: skip
            m.d.sync += [sweep.eq(sweep + 1), work.latest.eq(1)]
            m.next = "EPOCH"
            with m.If(sweep == last):
                m.d.sync += sweep.eq(0)
                m.next = "IDLE"
