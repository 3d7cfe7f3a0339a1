"""Compactor: merges the two entries of a full set that have the smallest gap.

Ref: ``golden_model/noncoherent/interval_cam.py`` (the same choice).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout


class Compactor(wiring.Component):
    """While no entry is free, finds the smallest gap, one pair of entries a cycle.

    ``o_ready`` is low for entries * (entries + 1) + 9 cycles; ``o_merge`` in the last of them. An
    entry is registered, then subtracted, then compared: a gap counts three cycles after its entry
    was requested.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_full : ``In(1)``
        No entry is free.
    i_entry : ``In(entry_layout)``
        The entry of ``o_slot`` in the cycle before.
    o_ready : ``Out(1)``
        An entry is free.
    o_is_reading : ``Out(1)``, o_slot : ``Out(entries)``
        Which entry is requested, one-hot, if reading is allowed.
    o_merge : ``Out(1)``
        Entry ``o_low`` is merged with ``i_entry``, which is freed.
    o_low, o_high : ``Out(entries)``
        The lower and the upper of the two, one-hot.
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
        slot = self.o_slot
        low, high = Signal.like(slot), Signal.like(slot)
        is_before, is_after = Signal(), Signal()
        entry = Signal(struct_layout(self._params.entry_layout))
        m.d.sync += entry.eq(self.i_entry)
        is_under_way = self._compare(m, entry, low, high, is_before, is_after)
        tag, others = Signal.like(entry.tag), Signal()
        m.d.comb += self.o_is_reading.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.o_is_reading.eq(0), self.o_ready.eq(~self.i_full)]
                m.d.sync += low.eq(1)
                with m.If(self.i_full):
                    m.next = "BEFORE"
            with m.State("BEFORE"):
                m.d.comb += [slot.eq(low), is_before.eq(1)]
                m.d.sync += high.eq(1)
                m.next = "AFTER"
            with m.State("AFTER"):
                m.d.comb += [slot.eq(high), is_after.eq(1)]
                m.d.sync += high.eq(high << 1)
                with m.If(high[-1]):
                    m.d.sync += low.eq(low << 1)
                    m.next = "BEFORE"
                    with m.If(low[-1]):
                        m.next = "LAST_GAP"
            with m.State("LAST_GAP"), m.If(~is_under_way):
                m.next = "LOWER"
            with m.State("LOWER"):
                m.d.comb += slot.eq(self.o_low)
                m.next = "UPPER"
            with m.State("UPPER"):
                m.d.comb += slot.eq(self.o_high)
                m.next = "KEEP_LOWER"
            with m.State("KEEP_LOWER"):
                m.d.comb += slot.eq(self.o_high)
                m.d.sync += [others.eq(entry.others), tag.eq(entry.tag)]
                m.next = "KEEP_UPPER"
            with m.State("KEEP_UPPER"):
                m.d.comb += slot.eq(self.o_high)
                m.d.sync += self.o_others.eq(entry.others | others | (entry.tag != tag))
                m.next = "MERGE"
            with m.State("MERGE"):
                m.d.comb += [self.o_is_reading.eq(0), self.o_merge.eq(1)]
                m.next = "IDLE"
        return m

    def _compare(
        self, m: Module, entry, low: Signal, high: Signal, is_before: Signal, is_after: Signal
    ) -> Signal:
        """Keep the pair with the smallest gap; returns whether a subtraction is pending."""
        befores, afters = Signal(2), Signal(2)
        lows, highs = (
            [Signal.like(self.o_slot, name=f"{name}_{stage}") for stage in range(3)]
            for name in ("low", "high")
        )
        before_end = Signal.like(entry.end)
        gap = Signal(signed(self._params.end_bits + 1))
        best = Signal(self._params.end_bits)
        has_gap, is_under_way = Signal(), Signal()
        m.d.comb += is_under_way.eq(afters.any())
        m.d.sync += [
            befores.eq(Cat(is_before, befores)), afters.eq(Cat(is_after, afters)),
            Cat(lows).eq(Cat(low, *lows)), Cat(highs).eq(Cat(high, *highs)),
            gap.eq(entry.first - before_end), has_gap.eq(afters[1]),
        ]  # fmt: skip
        with m.If(befores[1]):
            m.d.sync += before_end.eq(entry.end)
        with m.If(~self.o_is_reading):
            m.d.sync += best.eq(~0)
        with m.If(has_gap & ~gap[-1] & (gap[:-1] < best)):
            m.d.sync += [best.eq(gap), self.o_low.eq(lows[2]), self.o_high.eq(highs[2])]
        return is_under_way
