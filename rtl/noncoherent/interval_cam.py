"""Interval CAM: a set of bytes in a few entries, compared with a range in parallel.

Ref: ``golden_model/noncoherent/interval_cam.py`` (the same set, entry by entry).
"""

from __future__ import annotations

from enum import IntEnum
from functools import reduce
from operator import and_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.interval_cam import DIGEST_TURN
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_select
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.compactor import Compactor
from racetrap.rtl.noncoherent.layouts import range_layout
from racetrap.rtl.noncoherent.range_comparator import (
    RangeComparator,
    change_layout,
    left_by,
    relation_layout,
)


class Command(IntEnum):
    """What to do with a range."""

    NONE = 0
    INSERT = 1
    REMOVE = 2


class IntervalCam(wiring.Component):
    """Looks up, inserts or removes a range, one range a cycle.

    A range is registered in one cycle, compared in the next, adjusted to changes by the range just
    ahead in the third, and takes effect in the fourth.  An insertion merges at once with all
    entries that it overlaps or touches, a removal shrinks or splits them.  After an insertion into
    the last free entry, two entries are merged: ``o_ready`` is low as long as ``Compactor`` states,
    and inputs compared meanwhile must be repeated.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_range : ``In({first, end})``
        Bytes in question; not empty.
    i_command : ``In(Command)``
        Operation on them.
    i_origin : ``In({tag, others, imprecise})``
        Origin of bytes that are inserted.
    i_clear : ``In(1)``
        Empty the set; not together with a command.
    i_query : ``In(1)``
        Look them up for ``o_hit``, as they are before the command.
    i_valid : ``In(1)``
        Command, clear and query are valid.
    i_execute : ``In(1)``
        Inputs of three cycles before take effect; if there are any, only while ``o_ready``.
        Otherwise they are lost, and ``i_drop`` must be set.
    i_drop : ``In(1)``
        Inputs of the two cycles before are lost.
    o_overlap : ``Out(entries)``
        Entries that overlap the bytes of three cycles before, or touch them if the command is
        ``INSERT``.
    o_hit : ``Out(hit_layout)``
        The first precise entry that had some of the bytes whose query took effect two cycles
        before, else the first imprecise one; nothing if none did.
    i_read : ``In(1)``, i_slot : ``In(entries)``, o_entry : ``Out(entry_layout)``
        Entry of the one-hot slot of the cycle before; only while ``o_ready``, and nothing may take
        effect in either cycle.
    o_ready : ``Out(1)``
        An entry is free.
    o_compacted : ``Out(1)``
        Pulse: two entries were merged.
    o_digest : ``Out(32)``
        Depends on every bit of the entries; only with ``trace_port``.
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
            "i_valid": In(1),
            "i_execute": In(1),
            "i_drop": In(1),
            "o_overlap": Out(params.entries),
            "o_hit": Out(struct_layout(params.hit_layout)),
            "i_read": In(1),
            "i_slot": In(params.entries),
            "o_entry": Out(self._entry),
            "o_ready": Out(1),
            "o_compacted": Out(1),
            "o_digest": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        entries = [Signal(self._entry, name=f"entry_{slot}") for slot in range(params.entries)]
        valid = Signal(params.entries, name="entry_valid")  # an instance around it is called valid
        m.submodules.compactor = compactor = Compactor(params)
        change, origin, does_query = self._compare(m, entries, valid)
        self._answer(m, entries, does_query & self.i_execute)
        kept = self._select(m, entries, change, compactor)
        with m.If(compactor.o_merge):
            m.d.sync += valid.eq(valid & ~compactor.o_high)
        self._change_entries(m, entries, change, origin, kept, compactor)
        m.d.comb += [
            compactor.i_full.eq(valid.all()),
            compactor.i_entry.eq(kept),
            self.o_ready.eq(compactor.o_ready),
            self.o_compacted.eq(compactor.o_merge),
            self.o_entry.eq(kept),
        ]
        if params.trace_port:
            m.d.comb += self.o_digest.eq(_digest(entries, valid))
        return m

    def _compare(
        self, m: Module, entries: list, valid: Value
    ) -> tuple[data.View, data.View, Value]:
        """Three stages: compared, adjusted to the range ahead, taking effect.

        Returns the change that takes effect, its origin and whether it is a query.  Two ranges are
        ahead of the one that is compared: the second takes effect now, the first in the next cycle.
        """
        params = self._params
        m.submodules.comparator = comparator = RangeComparator(params, 2)
        ranges = [Signal(range_layout(params), name=f"range_{stage}") for stage in range(3)]
        origins = [Signal.like(self.i_origin, name=f"origin_{stage}") for stage in range(3)]
        change = Signal(change_layout(params))
        is_insert, is_remove, clear, query = (
            Signal(3, name=name) for name in ("is_insert", "is_remove", "clear", "query")
        )
        for flag, given in (
            (is_insert, self.i_command == Command.INSERT),
            (is_remove, self.i_command == Command.REMOVE),
            (clear, self.i_clear), (query, self.i_query),
        ):  # fmt: skip
            m.d.sync += flag.eq(Cat(given & self.i_valid, flag[:-1] & ~self.i_drop.replicate(2)))
        m.d.sync += [
            Cat(ranges).eq(Cat(self.i_range, *ranges[:-1])),
            Cat(origins).eq(Cat(self.i_origin, *origins[:-1])),
        ]
        m.d.comb += [
            comparator.i_range.eq(ranges[0]),
            comparator.i_touch.eq(is_insert[0]),
            Cat(comparator.i_ranges).eq(Cat(ranges[1:])),
            *(
                Cat(one.first, one.end).eq(Cat(entry.first, entry.end))
                for one, entry in zip(comparator.i_entries, entries, strict=True)
            ),
            change.is_insert.eq(is_insert[-1]),
            change.is_remove.eq(is_remove[-1]),
            change.range.eq(ranges[-1]),
            change.free.eq(lowest_one_hot(~valid)),
            self.o_overlap.eq(change.overlap),
        ]
        kept, new = self._change_valid(m, valid, change, clear[-1])
        self._adjust(m, comparator, change, kept, new)
        return change, origins[-1], query[-1]

    def _adjust(
        self, m: Module, comparator: RangeComparator, change: data.View, kept: Value, new: Value
    ) -> None:
        """Adjust the comparison to the two changes ahead, one in each stage."""
        count = len(kept)
        relation, fresh, ahead = (
            Signal(relation_layout(width), name=name)
            for name, width in (("relation", count), ("fresh", 1), ("ahead", 2))
        )
        newest = Signal(count)
        stays, added = left_by(change, comparator.o_entries, comparator.o_ranges[1])
        m.d.sync += [
            *(relation[name].eq(value) for name, value in stays.items()),
            *(fresh[name].eq(value) for name, value in added.items()),
            ahead.eq(comparator.o_ranges[0]),
            newest.eq(new),
        ]
        # The entry that was new is in its slot now.
        placed = Signal.like(relation)
        m.d.comb += [
            placed[name].eq((relation[name] & ~newest) | (newest & fresh[name].replicate(count)))
            for name in added
        ]
        stays, added = left_by(change, placed, ahead)

        def meets(*names: str) -> Value:
            """Entries for which all conditions hold."""
            old, one = (reduce(and_, (of[name] for name in names)) for of in (stays, added))
            # An invalid entry overlaps nothing.
            return (old & kept) | (new & one.replicate(count))

        m.d.sync += [
            change.overlap.eq(meets("reaches", "begins")),
            change.lower.eq(meets("reaches", "begins", "left")),
            change.upper.eq(meets("reaches", "begins", "right")),
        ]

    def _answer(self, m: Module, entries: list, asks: Value) -> None:
        """A matching entry keeps its tag for a cycle: new bytes go to a free entry."""
        hits, chosen, is_definite = self.o_overlap, Signal(len(entries)), Signal()
        precise = hits & ~Cat(entry.imprecise for entry in entries)
        first = lowest_one_hot(Mux(precise.any(), precise, hits))
        m.d.sync += [
            chosen.eq(first & asks.replicate(len(entries))),
            is_definite.eq(precise.any() & asks),
            self.o_hit.found.eq(chosen.any()),
            self.o_hit.definite.eq(is_definite),
            self.o_hit.others.eq(one_hot_select(chosen, [entry.others for entry in entries])),
            self.o_hit.tag.eq(one_hot_select(chosen, [entry.tag for entry in entries])),
        ]

    def _select(
        self, m: Module, entries: list, change: data.View, compactor: Compactor
    ) -> data.View:
        """First byte of the entry cut on its left, all other fields of the one cut on its right."""
        kept = Signal(self._entry)
        reads, slot = Signal(), Signal.like(self.i_slot)
        m.d.sync += [
            reads.eq(self.i_read | compactor.o_is_reading),
            slot.eq(Mux(compactor.o_is_reading, compactor.o_slot, self.i_slot)),
        ]
        lower, upper = Mux(reads, slot, change.lower), Mux(reads, slot, change.upper)
        for name in ("first", "end", "tag", "others", "imprecise"):
            values = [entry[name] for entry in entries]
            m.d.comb += kept[name].eq(one_hot_select(lower if name == "first" else upper, values))
        return kept

    def _change_valid(
        self, m: Module, valid: Value, change: data.View, clear: Value
    ) -> tuple[Value, Value]:
        """Valid bits after a change, and which entry is new, if the change takes effect."""
        inside = self.o_overlap & ~change.lower & ~change.upper
        gone = Mux(change.is_insert, self.o_overlap, Mux(change.is_remove, inside, 0))
        writes = change.is_insert | (change.is_remove & (change.lower & change.upper).any())
        kept = valid & ~gone & ~clear.replicate(len(valid))
        new = change.free & writes.replicate(len(valid))
        with m.If(self.i_execute):
            m.d.sync += valid.eq(kept | new)
        return kept, new

    def _change_entries(
        self, m: Module, entries: list, change: data.View, origin: data.View, kept: data.View,
        compactor: Compactor,
    ) -> None:  # fmt: skip
        """Insert and remove; new bytes go to the lowest free entry.

        That entry is written in each cycle: it is not read before it is valid.
        """
        first, end = change.range.first, change.range.end
        beside = change.lower | change.upper
        differs = Cat(entry.others | (entry.tag != origin.tag) for entry in entries)
        imprecise = Cat(entry.imprecise for entry in entries)
        new = Signal(self._entry)
        has_end = compactor.o_merge | change.upper.any()
        m.d.comb += [new.eq(kept), new.first.eq(end), new.end.eq(Mux(has_end, kept.end, end))]
        with m.If(compactor.o_merge):
            m.d.comb += [new.others.eq(compactor.o_others), new.imprecise.eq(1)]
        with m.Elif(change.is_insert):
            m.d.comb += [
                new.first.eq(Mux(change.lower.any(), kept.first, first)),
                new.tag.eq(origin.tag),
                new.others.eq(origin.others | (beside & differs).any()),
                new.imprecise.eq(origin.imprecise | (beside & imprecise).any()),
            ]
        for slot, entry in enumerate(entries):
            is_new = change.free[slot]
            cuts = self.i_execute & change.is_remove
            cuts_end = cuts & change.lower[slot]
            cuts_first = cuts & change.upper[slot] & ~change.lower[slot]
            merges = compactor.o_merge & compactor.o_low[slot]
            with m.If(is_new | cuts_first):
                m.d.sync += entry.first.eq(new.first)
            with m.If(is_new | cuts_end | merges):
                keeps = merges | ~(change.is_remove & change.lower[slot])
                m.d.sync += entry.end.eq(Mux(keeps, new.end, first))
            with m.If(is_new):
                m.d.sync += entry.tag.eq(new.tag)
            with m.If(is_new | merges):
                m.d.sync += [entry.others.eq(new.others), entry.imprecise.eq(new.imprecise)]


def folded(word: Value, turn: int, digest: Value) -> Value:
    """Fold a word into a digest: XOR of its parts, each rotated by ``turn`` and its number."""
    for number, offset in enumerate(range(0, len(word), 32)):
        part = Cat(word[offset : offset + 32], Const(0, 32))[:32]
        digest ^= part.rotate_left((turn + number * DIGEST_TURN) % 32)
    return digest


def _digest(entries: list, valid: Value) -> Value:
    digest = Const(0, 32)
    for slot, entry in enumerate(entries):
        word = Cat(entry, Const(1, 1)) & valid[slot].replicate(len(Value.cast(entry)) + 1)
        digest = folded(word, slot, digest)
    return digest
