"""Interval CAM: a set of bytes in a few entries, compared with a range in parallel.

Ref: ``golden_model/noncoherent/interval_cam.py`` (the same set, entry by entry).
"""

from __future__ import annotations

from enum import IntEnum

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.layout import index_bits
from racetrap.golden_model.noncoherent.interval_cam import DIGEST_TURN
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.layouts import range_layout

__all__ = ["Command", "IntervalCam"]


class Command(IntEnum):
    """What to do with a range."""

    NONE = 0
    INSERT = 1
    REMOVE = 2


class IntervalCam(wiring.Component):
    """Looks a range up, puts it in or takes it out, one range a cycle.

    An insertion merges with all entries that it meets or touches in the same cycle, a removal
    shrinks or splits.  After one that takes the last free entry, the two entries with the
    smallest gap become one: ``o_ready`` is low for entries * (entries + 1) + 4 cycles.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_range : ``In({first, end})``
        Bytes in question; not empty.
    i_command : ``In(Command)``
        What to do with them.
    i_origin : ``In({tag, others, imprecise})``
        Of bytes that are put in.
    i_clear : ``In(1)``
        Take all bytes out; not together with a command.
    i_query : ``In(1)``
        Tell of them in ``o_hit`` in the next cycle, as they are before the command.
    i_apply : ``In(1)``
        Command, clear and query take effect; only while ``o_ready``.
    o_overlap : ``Out(entries)``
        Entries that have some of the bytes, or touch them if the command is ``INSERT``.
    o_hit : ``Out(hit_layout)``
        The first precise entry that had some of the bytes queried in the cycle before, else the
        first imprecise one; nothing if nothing was queried.
    i_slot : ``In``, o_entry : ``Out(entry_layout)``
        Entry of a number; only while ``o_ready``.
    o_ready : ``Out(1)``
        An entry is free.
    o_compacted : ``Out(1)``
        Pulse: two entries have become one.
    o_digest : ``Out(32)``
        Depends on every bit of the entries.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        self._entry = struct_layout(params.entry_layout)
        super().__init__({
            "i_range": In(range_layout(params)),
            "i_command": In(Command),
            "i_origin": In(data.StructLayout({"tag": params.tag_bits, "others": 1,
                                              "imprecise": 1})),
            "i_clear": In(1),
            "i_query": In(1),
            "i_apply": In(1),
            "o_overlap": Out(params.entries),
            "o_hit": Out(struct_layout(params.hit_layout)),
            "i_slot": In(index_bits(params.entries)),
            "o_entry": Out(self._entry),
            "o_ready": Out(1),
            "o_compacted": Out(1),
            "o_digest": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = self._params.entries
        entries = [Signal(self._entry, name=f"entry_{slot}") for slot in range(count)]
        valid = Signal(count)
        meets, left, right = self._compare(m, entries, valid)
        self._answer(m, entries, meets)
        self._change(m, entries, valid, meets, left, right)
        self._compact(m, entries, valid)
        if self._params.trace_port:
            m.d.comb += self.o_digest.eq(_digest(entries, valid))
        return m

    def _compare(self, m: Module, entries: list, valid: Value) -> tuple[Value, Value, Value]:
        """Entries that meet the range (or touch it, on insertion), and have bytes beside it."""
        touch = self.i_command == Command.INSERT
        first, end = self.i_range.first, self.i_range.end
        meets, left, right = (
            Signal(len(entries), name=name) for name in ("meets", "left", "right")
        )
        for slot, entry in enumerate(entries):
            # One bit more turns `less` into `less or equal` without another comparison.
            reaches = Cat(touch, entry.end) > Cat(Const(0, 1), first)
            begins = Cat(Const(0, 1), entry.first) < Cat(touch, end)
            m.d.comb += [
                meets[slot].eq(valid[slot] & reaches & begins),
                left[slot].eq(entry.first < first),
                right[slot].eq(entry.end > end),
            ]
        m.d.comb += self.o_overlap.eq(meets)
        return meets, left, right

    def _answer(self, m: Module, entries: list, meets: Value) -> None:
        hits = Signal(len(entries))
        m.d.sync += hits.eq(meets & (self.i_query & self.i_apply).replicate(len(entries)))
        precise = Signal.like(hits)
        m.d.comb += precise.eq(hits & ~Cat(entry.imprecise for entry in entries))
        chosen = Mux(precise.any(), precise, hits)
        chosen = (chosen & -chosen)[: len(entries)]
        m.d.comb += [
            self.o_hit.found.eq(hits.any()),
            self.o_hit.definite.eq(precise.any()),
            self.o_hit.others.eq(one_hot_select(chosen, [entry.others for entry in entries])),
            self.o_hit.tag.eq(one_hot_select(chosen, [entry.tag for entry in entries])),
        ]

    def _change(
        self, m: Module, entries: list, valid: Value, meets: Value, left: Value, right: Value
    ) -> None:
        """Insertion and removal; what is new goes to the lowest free entry."""
        first, end = self.i_range.first, self.i_range.end
        free = (~valid & (valid + 1))[: len(entries)]
        lower, upper = meets & left, meets & right
        split = lower & upper
        new = Signal(self._entry)
        is_insert = self.i_command == Command.INSERT
        differs = Cat(entry.others | (entry.tag != self.i_origin.tag) for entry in entries)
        imprecise = Cat(entry.imprecise for entry in entries)
        beside = lower | upper
        last_end = Mux(upper.any(), one_hot_select(upper, [entry.end for entry in entries]), end)
        lowest = one_hot_select(lower, [entry.first for entry in entries])
        with m.If(is_insert):
            m.d.comb += [
                new.first.eq(Mux(lower.any(), lowest, first)),
                new.end.eq(last_end),
                new.tag.eq(self.i_origin.tag),
                new.others.eq(self.i_origin.others | (beside & differs).any()),
                new.imprecise.eq(self.i_origin.imprecise | (beside & imprecise).any()),
            ]
        with m.Else():
            m.d.comb += [
                new.eq(one_hot_select(split, [Value.cast(entry) for entry in entries])),
                new.first.eq(end),
            ]
        is_remove = self.i_command == Command.REMOVE
        writes = is_insert | (is_remove & split.any())
        gone = Mux(is_insert, meets, Mux(is_remove, meets & ~beside, 0))
        with m.If(self.i_apply):
            m.d.sync += valid.eq(
                Mux(self.i_clear, 0, (valid & ~gone) | (free & writes.replicate(len(entries))))
            )
        for slot, entry in enumerate(entries):
            with m.If(self.i_apply & writes & free[slot]):
                m.d.sync += entry.eq(new)
            with m.If(self.i_apply & is_remove & meets[slot]):
                with m.If(left[slot]):
                    m.d.sync += entry.end.eq(first)
                with m.Elif(right[slot]):
                    m.d.sync += entry.first.eq(end)

    def _compact(self, m: Module, entries: list, valid: Value) -> None:
        """While no entry is free, look for the smallest gap and merge its two sides."""
        top = len(entries) - 1
        low, high, best_low, best_high, gap_low, gap_high, slot = (
            Signal(index_bits(len(entries)), name=name)
            for name in ("low", "high", "best_low", "best_high", "gap_low", "gap_high", "slot")
        )
        before_end = Signal(self._params.end_bits)
        merged = Signal(self._entry)
        gap = Signal(signed(self._params.end_bits + 1))
        best = Signal(self._params.end_bits)
        has_gap = Signal()
        read = self.o_entry
        m.d.comb += [slot.eq(self.i_slot), read.eq(Array(entries)[slot])]
        m.d.sync += has_gap.eq(0)
        with m.If(has_gap & ~gap[-1] & (gap[:-1] < best)):
            m.d.sync += [best.eq(gap), best_low.eq(gap_low), best_high.eq(gap_high)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.o_ready.eq(~valid.all())
                m.d.sync += [low.eq(0), best.eq(~0)]
                with m.If(valid.all()):
                    m.next = "BEFORE"
            with m.State("BEFORE"):
                m.d.comb += slot.eq(low)
                m.d.sync += [before_end.eq(read.end), high.eq(0)]
                m.next = "AFTER"
            with m.State("AFTER"):
                m.d.comb += slot.eq(high)
                m.d.sync += [
                    gap.eq(read.first - before_end), gap_low.eq(low), gap_high.eq(high),
                    has_gap.eq(1), high.eq(high + 1),
                ]  # fmt: skip
                with m.If(high == top):
                    m.d.sync += low.eq(low + 1)
                    m.next = "BEFORE"
                    with m.If(low == top):
                        m.next = "LAST_GAP"
            with m.State("LAST_GAP"):
                m.next = "UPPER"
            with m.State("UPPER"):
                m.d.comb += slot.eq(best_high)
                m.d.sync += merged.eq(read)
                m.next = "MERGE"
            with m.State("MERGE"):
                m.d.comb += [slot.eq(best_low), self.o_compacted.eq(1)]
                others = read.others | merged.others | (read.tag != merged.tag)
                for number, entry in enumerate(entries):
                    with m.If(best_low == number):
                        m.d.sync += [
                            entry.end.eq(merged.end), entry.others.eq(others),
                            entry.imprecise.eq(1),
                        ]  # fmt: skip
                    with m.If(best_high == number):
                        m.d.sync += valid[number].eq(0)
                m.next = "IDLE"


def _digest(entries: list, valid: Value) -> Value:
    digest = Const(0, 32)
    for slot, entry in enumerate(entries):
        word = Cat(entry, Const(1, 1)) & valid[slot].replicate(len(Value.cast(entry)) + 1)
        for number, offset in enumerate(range(0, len(word), 32)):
            part = Cat(word[offset : offset + 32], Const(0, 32))[:32]
            digest ^= part.rotate_left((slot + number * DIGEST_TURN) % 32)
    return digest
