"""Sweep: the records of all warps one after the other, at launch and before a clock would wrap.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal

from racetrap.golden_model.causality.packets import ResumeKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_work import Work
from racetrap.rtl.causality.marker_gate import MarkerGate
from racetrap.rtl.causality.row_outlet import RowOutlet
from racetrap.rtl.common.layout import struct_layout


class Sweep:
    """States of the collector in which it clears records, or begins an epoch.

    When a clock is the last one, SMs get a resume of that.  When a marker comes then that waits for
    banks, they get one to hold; each has a marker that waits once what it sent before is done, and
    then an epoch begins: in the records, then in all banks, then in all SMs.

    Attributes
    ----------
    initial : Signal
        A record of a warp slot that has had no block.
    is_full : Signal
        A clock is the last one.
    has_told : Signal
        All SMs have the resume that they must get.
    tells : Signal
        They get it now.
    """

    def __init__(
        self, params: CausalityParams, m: Module, work: Work, fenced: Signal, gate: MarkerGate,
        outlet: RowOutlet,
    ):  # fmt: skip
        self._work, self._fenced, self._gate, self._outlet = work, fenced, gate, outlet
        self.is_full, self.has_told, self.tells = (
            Signal(name=name) for name in ("is_full", "has_told", "tells")
        )
        self._told_full, self._told_hold = Signal(name="told_full"), Signal(name="told_hold")
        m.d.comb += [
            self.is_full.eq(work.latest >= params.last_clock), gate.i_hold.eq(self.is_full),
            self.has_told.eq(
                ~self.is_full | (self._told_full & (self._told_hold | ~gate.o_asks))
            ),
            self.tells.eq(~self.has_told & outlet.o_is_free),
        ]  # fmt: skip
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
            m.d.sync += [
                sweep.eq(sweep + 1), work.latest.eq(1), self._fenced.eq(0),
                self._told_full.eq(0), self._told_hold.eq(0),
            ]  # fmt: skip
            with m.If(sweep == last):
                m.d.sync += sweep.eq(0)
                m.next = "IDLE"
        self._elaborate_epoch(m)

    def elaborate_tell(self, m: Module) -> None:
        """Tell all SMs that a clock is the last one, or to hold."""
        resume = self._outlet.i_resume
        m.d.comb += [
            self._outlet.i_leaves.eq(1), self._outlet.i_has_row.eq(0),
            self._outlet.i_has_resume.eq(1), self._outlet.i_is_for_all.eq(1),
            resume.kind.eq(Mux(self._gate.o_asks, ResumeKind.HOLD, ResumeKind.FULL)),
        ]  # fmt: skip
        m.d.sync += [self._told_full.eq(1), self._told_hold.eq(self._gate.o_asks)]

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
                m.next = "EPOCH_LEAVE"
        with m.State("EPOCH_LEAVE"):
            # Its row and resume leave: nothing does that was told before, as all SMs wait.
            outlet = self._outlet
            m.d.comb += [
                outlet.i_leaves.eq(1), outlet.i_has_row.eq(1), outlet.i_has_resume.eq(1),
                outlet.i_is_for_all.eq(1), outlet.i_row.epoch.eq(1),
                outlet.i_resume.kind.eq(ResumeKind.EPOCH),
            ]  # fmt: skip
            m.d.sync += [self._told_full.eq(0), self._told_hold.eq(0)]
            m.next = "IDLE"
