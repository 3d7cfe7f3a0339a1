"""Table of knowledge: what one cycle makes of it, and what it claims.

Ref: ScoRD (ISCA'20) Section VI (lists of warps that have synchronised, without widths).
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_select
from racetrap.rtl.common.layout import struct_layout


def hash_of(params: CausalityParams, block: Value) -> Value:
    """Bit of a block slot in a table of knowledge, alone."""
    slot, sm = block[: params.slot_bits], block[params.slot_bits :]
    # 7 times, without a multiplier.
    place = ((sm << 3) - sm + slot)[: params.hash_bits.bit_length() - 1]
    return (Const(1, params.hash_bits) << place)[: params.hash_bits]


def known_block(params: CausalityParams, m: Module, block: Value, clock: Value) -> Value:
    """Exact entry of a block slot up to a clock."""
    known = Signal(struct_layout(params.known_layout), name="known_block")
    m.d.comb += [
        known.is_block.eq(1), known.slot.eq(block), known.clock.eq(clock),
        known.warp[params.warp_bits :].eq(block >> params.slot_bits),
    ]  # fmt: skip
    return known


def from_other_block(fenced: Value) -> Value:
    """As the golden model's ``from_other_block``."""
    block, device, others = fenced
    return Cat(others, device, block | others)


def latest(m: Module, clocks: Sequence[Value]) -> Value:
    """Largest of some clocks, as signals: as an expression it would double with each."""
    largest = clocks[0]
    for clock in clocks[1:]:
        larger = Signal(max(len(largest), len(clock)), name="larger")
        m.d.comb += larger.eq(Mux(largest < clock, clock, largest))
        largest = larger
    return largest


class KnowledgeTable(wiring.Component):
    """Adds an exact entry to a table, or bits and clock of another table.  Combinational.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    places : int
        Exact entries of the largest table; at least 1.

    Members
    -------
    i_table : ``In(table_layout(places))``
        The table before.
    i_usable : ``In(places)``
        Places that this table has: the lowest ones.
    i_known : ``In(known_layout)``
        What is to be added; nothing if its clock is 0.
    i_bits : ``In(hash_bits)``, i_lossy : ``In(clock_bits)``, i_fenced : ``In(3)``
        What is united with the table's own, or 0; ``i_known`` does not see it yet.
    o_table : ``Out(table_layout(places))``
        The table behind.
    o_evicts : ``Out(1)``
        ``i_known`` does not fit: it, or what makes room for it, has gone to the bits.
    """

    def __init__(self, params: CausalityParams, places: int):
        self._params, self._places = params, places
        table = struct_layout(params.table_layout(places))
        super().__init__({
            "i_table": In(table),
            "i_usable": In(places),
            "i_known": In(struct_layout(params.known_layout)),
            "i_bits": In(params.hash_bits),
            "i_lossy": In(params.clock_bits),
            "i_fenced": In(3),
            "o_table": Out(table),
            "o_evicts": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, table, new = self._params, self.i_table, self.i_known
        covered, adds, is_known, has_room = (
            Signal(name=name) for name in ("covered", "adds", "is_known", "has_room")
        )
        new_bit = hash_of(params, block_of(params, new))
        places = [table[f"known_{place}"] for place in range(self._places)]
        used = Cat(place.clock != 0 for place in places)
        same = Cat(
            (place.is_block == new.is_block) & (place.warp == new.warp) & (place.slot == new.slot)
            for place in places
        )
        room, free = Signal(self._places), Signal(self._places)
        m.d.comb += [room.eq(self.i_usable & ~used), free.eq(lowest_one_hot(room))]
        m.d.comb += [
            covered.eq((table.bits & new_bit).any() & (new.clock < table.lossy)),
            adds.eq((new.clock != 0) & (new.direct | ~covered)),
            is_known.eq((used & same).any()),
            has_room.eq(free.any()),
            self.o_evicts.eq(adds & ~is_known & ~has_room),
        ]
        oldest = Signal(self._places)
        m.d.comb += oldest.eq(self._oldest(places))
        # Bits and clocks beyond all that may be the victim, before it is known which is.
        gives_way = Signal()
        bits = [hash_of(params, block_of(params, place)) for place in places]
        old = one_hot_select(oldest, [place.clock for place in places])
        m.d.comb += gives_way.eq(self.i_usable.any() & (old < new.clock))
        evicted_bit = Mux(gives_way, one_hot_select(oldest, bits), new_bit)
        for number, place in enumerate(places):
            # A key that is there already keeps its place, and its clock only grows.
            is_more = Cat(new.direct, new.clock) > Cat(place.direct, place.clock)
            takes = Mux(
                is_known, used[number] & same[number] & is_more,
                Mux(has_room, free[number], gives_way & oldest[number]),
            )  # fmt: skip
            m.d.comb += self.o_table[f"known_{number}"].eq(Mux(adds & takes, new, place))
        evicted = evicted_bit & self.o_evicts.replicate(len(table.bits))
        lossy = latest(m, [table.lossy, self.i_lossy])
        beyond_new, beyond_old = (
            latest(m, [lossy, clock + 1])[: len(lossy)] for clock in (new.clock, old)
        )
        m.d.comb += [
            self.o_table.bits.eq(table.bits | self.i_bits | evicted),
            self.o_table.lossy.eq(
                Mux(self.o_evicts, Mux(gives_way, beyond_old, beyond_new), lossy)
            ),
            self.o_table.fenced.eq(table.fenced | self.i_fenced),
        ]
        return m

    def _oldest(self, places: Sequence[Value]) -> Value:
        """The usable place with the smallest clock, the first of several; 0 if none is usable."""
        bits = []
        for number, place in enumerate(places):
            loses = Const(0, 1)
            for other, rival in enumerate(places):
                if other != number:
                    is_older = rival.clock < place.clock + (other < number)
                    loses = loses | (self.i_usable[other] & is_older)
            bits.append(self.i_usable[number] & ~loses)
        return Cat(bits)
