"""Harness for a proof on tables of knowledge: what a table has been given, it claims.

An arbitrary access stands beside the table, with a bit of the exact set: whether the table has been
given it, by an exact entry or by another table's bits.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

FILE = "causality/knowledge_table.py"


class TableHarness(Harness):
    """A table of any number of places, to which anything is added in any cycle, or it is emptied.

    Clocks are those that a wrap allows: an evicted one can be counted up.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    places : int
        Exact entries of the largest table.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, places: int, case: Case):
        self._params, self._places = params, places
        self._unit = modules_with([FILE], case.bug)[FILE].KnowledgeTable(params, places)
        super().__init__(case, {
            "i_usable": In(range(places + 1)), "i_empties": In(1),
            "i_known": In(struct_layout(params.known_layout)),
            "i_bits": In(params.hash_bits), "i_lossy": In(params.clock_bits), "i_fenced": In(3),
            "i_warp": In(params.slot_warp_bits), "i_block": In(params.block_bits),
            "i_clock": In(params.clock_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, unit, known = self._params, self._unit, self.i_known
        m.submodules.unit = unit
        table = Signal(unit.i_table.shape(), name="table")
        usable = (Const(1, self._places + 1) << self.i_usable) - 1
        m.d.comb += [
            unit.i_table.eq(table), unit.i_usable.eq(usable), unit.i_known.eq(known),
            unit.i_bits.eq(self.i_bits), unit.i_lossy.eq(self.i_lossy),
            unit.i_fenced.eq(self.i_fenced),
            Assume(known.clock <= params.last_clock + 1),
            Assume(self.i_lossy <= params.last_clock + 2),
            Assume(~known.is_block | (known.warp[: params.warp_bits] == 0)),
            Assume(self.i_warp[params.warp_bits :] == self.i_block[params.slot_bits :]),
            Assume((self.i_clock != 0) & (self.i_usable <= self._places)),
        ]  # fmt: skip
        m.d.sync += table.eq(Mux(self.i_empties, 0, unit.o_table.as_value()))
        # The access, and how many places there are, are the same in all cycles.
        started, fixed = Signal(), Cat(self.i_warp, self.i_block, self.i_clock, self.i_usable)
        first = Signal(len(fixed), name="first")
        m.d.sync += [started.eq(1), first.eq(fixed)]
        m.d.comb += Assume(~started | (fixed == first))
        place = Array(Const(params.hash_of(n)) for n in range(params.sm_count << params.slot_bits))
        self._hash = place[self.i_block]

        given, direct, fenced = Signal(), Signal(), Signal(3)
        adds = (
            (block_of(params, known) == self.i_block)
            & (known.is_block | (known.warp == self.i_warp))
            & (known.clock >= self.i_clock)
        )
        adds_direct = (
            known.direct & ~known.is_block & (known.warp == self.i_warp)
            & (known.clock >= self.i_clock)
        )  # fmt: skip
        unites = (self.i_bits & self._hash).any() & (self.i_clock < self.i_lossy)
        m.d.sync += [
            given.eq((given | adds | unites) & ~self.i_empties),
            direct.eq((direct | adds_direct) & ~self.i_empties),
            fenced.eq(Mux(self.i_empties, 0, fenced | self.i_fenced)),
        ]
        places = [table[f"known_{number}"] for number in range(self._places)]
        exact = [each.clock >= self.i_clock for each in places]
        rules = [
            ~given | self._claims(table),
            (fenced & ~table.fenced) == 0,
            # What a message of the warp itself has not brought is not said to be of it.
            *(
                ~(is_later & each.direct & ~each.is_block & (each.warp == self.i_warp)) | direct
                for each, is_later in zip(places, exact, strict=True)
            ),
        ]
        helps = [
            # An entry of the warp's slot in another block may be evicted to that block's bit.
            ~given | self._claims(table, in_block=True),
            *((each.clock == 0) | (self.i_usable > number) for number, each in enumerate(places)),
            *(each.clock <= params.last_clock + 1 for each in places),
            *(
                (each.clock == 0) | ~each.is_block | (each.warp[: params.warp_bits] == 0)
                for each in places
            ),
            table.lossy <= params.last_clock + 2,
        ]
        had, since = Signal(), Signal(range(3))
        m.d.sync += [had.eq(given), since.eq(Mux(self.i_empties, 0, since + (since != 2)))]
        is_exact = Cat(
            (each.warp == self.i_warp) & ~each.is_block & is_later
            for each, is_later in zip(places, exact, strict=True)
        ).any()
        events = {
            "kept-exactly": given & is_exact & ~table.bits.any(),
            "moved-to-the-bits": given & had & ~is_exact & (self.i_usable == self._places),
            "not-claimed-by-a-full-table": (self.i_usable == self._places) & ~self._claims(table)
            & unit.o_evicts,
            "a-warp-of-another-block": given & is_exact & (since == 2)
            & Cat(
                (each.warp == self.i_warp) & ~each.is_block
                & (block_of(params, each) != self.i_block) for each in places
            ).any(),
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _claims(self, table: Any, in_block: bool = False) -> Value:
        """Whether a table has the access, by an exact entry (of its block) or its bits."""
        found = [(table.bits & self._hash).any() & (self.i_clock < table.lossy)]
        for number in range(self._places):
            each = table[f"known_{number}"]
            of_block = block_of(self._params, each) == self.i_block
            same = Mux(each.is_block, of_block, each.warp == self.i_warp)
            if in_block:
                same &= of_block
            found.append(same & (each.clock >= self.i_clock))
        return Cat(found).any()
