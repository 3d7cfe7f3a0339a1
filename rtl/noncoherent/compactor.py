"""Compactor: merges the two entries of a full set that have the smallest gap.

Ref: ``golden_model/noncoherent/interval_cam.py`` (the same choice).
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout

__all__ = ["Compactor"]


class Compactor(wiring.Component):
    """While no entry is free, finds the smallest gap, one pair of entries a cycle.

    ``o_ready`` is low for entries * (entries + 1) + 4 cycles; ``o_merge`` in the last of them.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_full : ``In(1)``
        No entry is free.
    i_entry : ``In(entry_layout)``
        The entry of ``o_slot``, in the same cycle.
    o_ready : ``Out(1)``
        An entry is free.
    o_is_reading : ``Out(1)``, o_slot : ``Out(entries)``
        Which entry is wanted, as one bit, if one may be.
    o_merge : ``Out(1)``
        Entry ``o_low`` becomes one with ``i_entry``, which goes.
    o_low, o_high : ``Out(entries)``
        The lower and the upper of the two, one bit each.
    o_others : ``Out(1)``
        Whether they come from several operations.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        super().__init__({
            "i_full": In(1),
            "i_entry": In(struct_layout(params.entry_layout)),
            "o_ready": Out(1),
            "o_is_reading": Out(1),
            "o_slot": Out(params.entries),
            "o_merge": Out(1),
            "o_low": Out(params.entries),
            "o_high": Out(params.entries),
            "o_others": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        entry, slot = self.i_entry, self.o_slot
        low, high, gap_low, gap_high = (
            Signal.like(slot, name=name) for name in ("low", "high", "gap_low", "gap_high")
        )
        before_end = Signal.like(entry.end)
        gap = Signal(signed(self._params.end_bits + 1))
        best = Signal(self._params.end_bits)
        has_gap, others = Signal(), Signal()
        tag = Signal.like(entry.tag)
        m.d.comb += self.o_others.eq(entry.others | others | (entry.tag != tag))
        m.d.sync += has_gap.eq(0)
        with m.If(has_gap & ~gap[-1] & (gap[:-1] < best)):
            m.d.sync += [best.eq(gap), self.o_low.eq(gap_low), self.o_high.eq(gap_high)]
        m.d.comb += self.o_is_reading.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.o_is_reading.eq(0), self.o_ready.eq(~self.i_full)]
                m.d.sync += [low.eq(1), best.eq(~0)]
                with m.If(self.i_full):
                    m.next = "BEFORE"
            with m.State("BEFORE"):
                m.d.comb += slot.eq(low)
                m.d.sync += [before_end.eq(entry.end), high.eq(1)]
                m.next = "AFTER"
            with m.State("AFTER"):
                m.d.comb += slot.eq(high)
                m.d.sync += [
                    gap.eq(entry.first - before_end), gap_low.eq(low), gap_high.eq(high),
                    has_gap.eq(1), high.eq(high << 1),
                ]  # fmt: skip
                with m.If(high[-1]):
                    m.d.sync += low.eq(low << 1)
                    m.next = "BEFORE"
                    with m.If(low[-1]):
                        m.next = "LAST_GAP"
            with m.State("LAST_GAP"):
                m.next = "LOWER"
            with m.State("LOWER"):
                m.d.comb += slot.eq(self.o_low)
                m.d.sync += [others.eq(entry.others), tag.eq(entry.tag)]
                m.next = "MERGE"
            with m.State("MERGE"):
                m.d.comb += [slot.eq(self.o_high), self.o_merge.eq(1)]
                m.next = "IDLE"
        return m
