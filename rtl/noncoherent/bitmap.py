"""Bitmap: a set of granules over a window of memory, in block RAM.

Ref: ``golden_model/noncoherent/bitmap.py`` (the same set, word by word).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.layout import index_bits
from racetrap.golden_model.noncoherent.params import WORD_GRANULES, NoncoherentParams
from racetrap.rtl.common.bits import is_between
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.interval_cam import Command, folded
from racetrap.rtl.noncoherent.layouts import range_layout

_PLACE_BITS = index_bits(WORD_GRANULES)


class Bitmap(wiring.Component):
    """Looks up, inserts or removes a range, a word of 32 granules a cycle.

    A range is registered in one cycle, addresses its first word in the next, reads it in the third
    and takes effect in the fourth, a range each cycle; changes by the two ranges ahead are
    forwarded.  Further words of a range follow, one a cycle, plus two cycles: ``o_ready`` is low
    meanwhile, and later inputs must be repeated.  After reset, and to clear the set, all words are
    written, one a cycle.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration, with a window.

    Members
    -------
    i_range, i_command, i_clear, i_query, i_valid, i_execute
        As of ``IntervalCam``; ``i_clear`` not together with a query, either.
    i_origin : ``In({tag})``
        Origin of bytes that are inserted.
    o_hit : ``Out(hit_layout)``
        Two cycles after a lookup: the word, if it had some of the bytes, else the bytes outside the
        window.
    o_ready : ``Out(1)``
        No word is left to process.
    o_compacted : ``Out(1)``
        Pulse: bytes outside the window were merged with all others there.
    o_digest : ``Out(32)``
        Depends on every bit of the words and on the bytes outside; only with ``trace_port``.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        self._word = struct_layout(params.word_layout)
        granule = index_bits(params.words) + _PLACE_BITS
        # A range, or the rest of one: first and last granule in the window, if it meets it.
        self._step = data.StructLayout({
            "low": granule, "high": granule, "meets": 1, "leaves": 1, "is_all": 1, "is_rest": 1,
            "is_insert": 1, "is_remove": 1, "query": 1, "clear": 1, "tag": params.tag_bits,
        })  # fmt: skip
        super().__init__({
            "i_range": In(range_layout(params)),
            "i_command": In(Command),
            "i_origin": In(data.StructLayout({"tag": params.tag_bits})),
            "i_clear": In(1),
            "i_query": In(1),
            "i_valid": In(1),
            "i_execute": In(1),
            "o_hit": Out(struct_layout(params.hit_layout)),
            "o_ready": Out(1),
            "o_compacted": Out(1),
            "o_digest": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        steps = [Signal(self._step, name=f"step_{stage}") for stage in range(3)]
        step, is_last, takes_effect = steps[-1], Signal(), Signal()
        mask = Signal(WORD_GRANULES)
        self._start(m, steps[0])
        low, high = steps[1].low, steps[1].high
        ends = low[_PLACE_BITS:] == high[_PLACE_BITS:]
        m.d.sync += [
            Cat(steps[1:]).eq(Cat(steps[:-1])),
            is_last.eq(ends),
            mask.eq(Cat(
                steps[1].meets & is_between(low[:_PLACE_BITS], 0, place)
                & (~ends | is_between(high[:_PLACE_BITS], place, WORD_GRANULES - 1))
                for place in range(WORD_GRANULES)
            )),
        ]  # fmt: skip
        m.d.comb += takes_effect.eq(step.is_rest | self.i_execute)
        word, new, writes = self._access(m, steps, mask, takes_effect)
        outside = self._outside(m, step)
        self._go_on(m, steps, is_last)
        self._answer(m, step, word, mask, outside, takes_effect)
        if self._params.trace_port:
            self._digest(m, step, word, new, writes, outside)
        return m

    def _start(self, m: Module, step: data.View) -> None:
        """The range of the cycle before, in granules of the window."""
        params = self._params
        given = Signal.like(self.i_range, name="range")
        flags = ("is_insert", "is_remove", "query", "clear")
        meant = Signal(data.StructLayout({**dict.fromkeys(flags, 1), "tag": params.tag_bits}))
        m.d.sync += [
            given.eq(self.i_range),
            meant.is_insert.eq(self.i_valid & (self.i_command == Command.INSERT)),
            meant.is_remove.eq(self.i_valid & (self.i_command == Command.REMOVE)),
            meant.query.eq(self.i_valid & self.i_query),
            meant.clear.eq(self.i_valid & self.i_clear),
            meant.tag.eq(self.i_origin.tag),
        ]
        unit, size = (n.bit_length() - 1 for n in (params.granule_bytes, params.window_bytes))
        first = given.first - Const(params.window_base, params.address_bits)
        last = given.end - Const(params.window_base + 1, params.end_bits)
        # The upper bits have the sign.
        is_first_inside, is_last_inside = ~first[size:].any(), ~last[size:].any()
        self._rest = rest = Signal(self._step, init={
            "high": -1, "meets": 1, "is_rest": 1, "clear": 1,
        })  # fmt: skip
        self._feeds = feeds = Signal(init=1)
        with m.If(feeds):
            m.d.comb += step.eq(rest)
        with m.Else():
            m.d.comb += [
                step.low.eq(first[unit:size] & is_first_inside.replicate(size - unit)),
                step.high.eq(last[unit:size] | (~is_last_inside).replicate(size - unit)),
                step.meets.eq((is_first_inside | first[-1]) & ~last[-1]),
                step.leaves.eq(~(is_first_inside & is_last_inside)),
                step.is_all.eq(~given.first.any() & given.end[-1]),
                *(step[name].eq(meant[name]) for name in (*flags, "tag")),
            ]

    def _access(
        self, m: Module, steps: list[data.View], mask: Value, takes_effect: Value
    ) -> tuple[data.View, data.View, Value]:
        """Read, change and write a word; returns it before and after, and whether it changes."""
        m.submodules.memory = memory = Memory(shape=self._word, depth=self._params.words, init=[])
        read, write = memory.read_port(), memory.write_port()
        step = steps[-1]
        before, index, place = (one.low[_PLACE_BITS:] for one in (steps[1], step, steps[0]))
        word, new, written = (Signal(self._word, name=name) for name in ("word", "new", "written"))
        wrote, wrote_index = Signal(), Signal.like(index)
        with m.If(step.is_insert):
            has_own = (word.dirty & ~mask).any()
            m.d.comb += [
                new.dirty.eq(word.dirty | mask),
                new.tag.eq(step.tag),
                new.others.eq(has_own & (word.others | (word.tag != step.tag))),
            ]
        with m.Elif(step.is_remove):
            m.d.comb += [new.eq(word), new.dirty.eq(word.dirty & ~mask)]
        m.d.comb += [
            read.addr.eq(place),
            write.addr.eq(index),
            write.data.eq(new),
            write.en.eq(
                takes_effect & step.meets
                & (step.is_insert | step.is_remove | (step.clear & step.is_rest))
            ),
        ]  # fmt: skip
        m.d.sync += [
            wrote.eq(write.en), wrote_index.eq(index), written.eq(new), word.eq(read.data),
        ]  # fmt: skip
        # Not yet in the memory when it was read.
        with m.If(write.en & (index == before)):
            m.d.sync += word.eq(new)
        with m.Elif(wrote & (wrote_index == before)):
            m.d.sync += word.eq(written)
        return word, new, write.en

    def _outside(self, m: Module, step: data.View) -> data.View:
        """Whether the set has bytes outside the window, and the origin of the latest."""
        outside = Signal(data.StructLayout({"held": 1, "tag": self._params.tag_bits}))
        leaves = self.i_execute & step.is_insert & step.leaves
        m.d.comb += self.o_compacted.eq(leaves)
        with m.If(leaves):
            m.d.sync += [outside.held.eq(1), outside.tag.eq(step.tag)]
        with m.If(self.i_execute & (step.clear | (step.is_remove & step.is_all))):
            m.d.sync += outside.held.eq(0)
        return outside

    def _go_on(self, m: Module, steps: list[data.View], is_last: Value) -> None:
        """Process further words of a range, and all words to clear the set."""
        step, rest, feeds = steps[-1], self._rest, self._feeds
        busy = Signal(init=1)
        m.d.comb += self.o_ready.eq(~busy)
        next_low = ((rest.low >> _PLACE_BITS) + 1) << _PLACE_BITS
        with m.If(feeds):
            m.d.sync += rest.low.eq(next_low)
            with m.If(rest.low[_PLACE_BITS:] == rest.high[_PLACE_BITS:]):
                m.d.sync += feeds.eq(0)
        with m.If(step.is_rest):
            with m.If(is_last):
                m.d.sync += busy.eq(0)
        with m.Elif(self.i_execute):
            does = step.is_insert | step.is_remove | step.query
            with m.If(step.clear):
                m.d.sync += [
                    rest.eq(rest.as_value().init), feeds.eq(1), busy.eq(1),
                ]  # fmt: skip
            with m.Elif(does & step.meets & ~is_last):
                m.d.sync += [
                    rest.eq(step), rest.is_rest.eq(1), feeds.eq(1), busy.eq(1),
                    rest.low.eq(((step.low >> _PLACE_BITS) + 1) << _PLACE_BITS),
                ]  # fmt: skip

    def _answer(
        self, m: Module, step: data.View, word: data.View, mask: Value, outside: data.View,
        takes_effect: Value,
    ) -> None:  # fmt: skip
        asks = takes_effect & step.query
        is_inside, is_outside = Signal(), Signal()
        hit = Signal.like(self.o_hit)
        m.d.comb += [
            is_inside.eq(asks & (word.dirty & mask).any()),
            is_outside.eq(asks & ~step.is_rest & step.leaves & outside.held),
        ]
        m.d.sync += [hit.eq(0), self.o_hit.eq(hit)]
        with m.If(is_inside):
            m.d.sync += [
                hit.found.eq(1), hit.definite.eq(1), hit.others.eq(word.others),
                hit.tag.eq(word.tag),
            ]  # fmt: skip
        with m.Elif(is_outside):
            m.d.sync += [hit.found.eq(1), hit.others.eq(1), hit.tag.eq(outside.tag)]

    def _digest(
        self, m: Module, step: data.View, word: data.View, new: data.View, writes: Value,
        outside: data.View,
    ) -> None:  # fmt: skip
        """Update the digest with each write: a memory cannot be read as a whole."""
        digest = Signal(32)
        changed = Value.cast(word) ^ Value.cast(new)
        turned = folded(changed, 0, Const(0, 32))
        for place, bit in enumerate(step.low[_PLACE_BITS:][:5]):
            turned = Mux(bit, turned.rotate_left(1 << place), turned)
        with m.If(self.i_execute & step.clear):
            m.d.sync += digest.eq(0)
        with m.Elif(writes & ~step.clear):
            m.d.sync += digest.eq(digest ^ turned)
        of_outside = Cat(~outside.tag, Const(-1, 32))[:32]
        m.d.comb += self.o_digest.eq(digest ^ (of_outside & outside.held.replicate(32)))
