"""Harness for a proof on the region locator: quotient and remainder of what it was given."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.gpu.params import LINE_BYTES, WORD_BYTES
from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.region import region_layout
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "gpu/region_table.py"
_WORDS_LOG2 = (LINE_BYTES // WORD_BYTES).bit_length() - 1


class LocatorHarness(Harness):
    """A locator with a free table that software may launch, and free words, one in each cycle.

    What comes out is never made to wait, so that a word comes as many cycles later as there are
    stages; the harness keeps the words of these.

    Parameters
    ----------
    params : ScordParams
        Configuration, with several regions.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        self._locator = modules_with([_FILE], case.bug)[_FILE].RegionLocator(params)
        segment = struct_layout(params.segment_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_segment": In(segment), "i_region": In(region_layout(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.locator = locator = self._locator
        turn = params.granularity_bits + params.bank_index_bits
        self._turn_words = turn - (WORD_BYTES.bit_length() - 1)
        self._assume_table(m)
        m.d.comb += [
            locator.i_region.eq(self.i_region),
            locator.i.valid.eq(self.i_valid),
            locator.i.payload.eq(self.i_segment),
            locator.o.ready.eq(1),
        ]
        stages = 3 + -(-params.tag_bits // 2)
        held = Signal(data.ArrayLayout(data.StructLayout({
            "valid": 1, "segment": struct_layout(params.segment_layout),
        }), stages))  # fmt: skip
        m.d.sync += [
            held[0].valid.eq(self.i_valid),
            held[0].segment.eq(self.i_segment),
            *(held[number].eq(held[number - 1]) for number in range(1, stages)),
        ]
        given, output = held[stages - 1], locator.o.p
        regions = [self._region_rules(number, given.segment) for number in range(params.regions)]
        is_access = given.segment.kind != PacketKind.FENCE
        inside = Cat(contains & is_access for contains, _ in regions)
        rules = [
            locator.i.ready,
            locator.o.valid == given.valid,
            locator.o_empty == ~Cat(stage.valid for stage in held).any(),
            ~given.valid | (Value.cast(output.segment) == Value.cast(given.segment)),
            ~given.valid | (output.monitored == inside.any()),
            # At most one region has it, and its place is of that one.
            ~given.valid | ((inside & (inside - 1)) == 0),
            *(
                ~given.valid | ~is_in | is_placed
                for is_in, (_, is_placed) in zip(inside, regions, strict=True)
            ),
        ]
        events = {
            "second-region": given.valid & inside[1],
            "highest-tag": given.valid & inside.any() & output.tag.all(),
            "between": given.valid & is_access & ~inside.any(),
        }
        self.state(m, rules, events)
        return m

    def _assume_table(self, m: Module) -> None:
        """The table is constant, and what the checker lets a launch take."""
        params = self._params
        started, table = Signal(), Signal.like(self.i_region)
        m.d.sync += [started.eq(1), table.eq(self.i_region)]
        m.d.comb += Assume(~started | (Value.cast(table) == Value.cast(self.i_region)))
        for number, region in enumerate(self.i_region):
            touched = self._turns(region, region.end - 1) + 1
            share = region.turns << params.tag_bits
            m.d.comb += [
                Assume((region.turns == 0) | (region.first < region.end)),
                Assume((region.turns == 0) | (touched <= share)),
            ]
            for other in self.i_region[number + 1 :] if number + 1 < params.regions else []:
                apart = (region.end <= other.first) | (other.end <= region.first)
                m.d.comb += Assume((region.turns == 0) | (other.turns == 0) | apart)

    def _turns(self, region, line) -> Value:
        """Turns of the banks from the region's first to a line."""
        low = self._turn_words - _WORDS_LOG2
        if low < 0:
            raise ValueError(f"Turn must be of whole lines, not of 2**{self._turn_words} words")
        return ((line >> low) - (region.first >> low))[: len(region.end)]

    def _region_rules(self, number: int, segment) -> tuple[Value, Value]:
        """Whether a region contains the segment's word, and whether the output is its place."""
        params, output, region = self._params, self._locator.o.p, self.i_region[number]
        line = segment.word >> _WORDS_LOG2
        contains = (region.turns != 0) & (line >= region.first) & (line < region.end)
        within = (output.index - region.segment)[: len(output.index)]
        lane_bits = params.bank_index_bits - params.lane_bits
        low = self._turn_words - lane_bits
        lane = (segment.word >> low)[:lane_bits]
        rest = within >> lane_bits
        product = sum(
            Mux(output.tag[bit], region.turns << bit, 0) for bit in range(params.tag_bits)
        )
        first = (region.first << _WORDS_LOG2) >> self._turn_words
        offset = ((segment.word >> self._turn_words) - first)[: params.word_bits]
        is_placed = (
            (within[:lane_bits] == lane) & (rest < region.turns) & (product + rest == offset)
        )
        return contains, is_placed
