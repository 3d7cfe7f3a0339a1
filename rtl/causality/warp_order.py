"""Warp order: whether what an entry names comes before what some lanes of a warp do now.

Ref: ScoRD (ISCA'20) Section VI (lists of warps that have synchronised; threads of a warp).
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import WARP_SIZE
from racetrap.rtl.causality.access import access_layout, block_of, in_tile
from racetrap.rtl.causality.warp_row import branch_layout
from racetrap.rtl.common.layout import struct_layout

#: What an entry's writer or reader is to an access: lanes that it does not come before, unless all
#: is ordered, for one reason or another; by its own warp, by its block; an older block in the slot
#: is another one.
RELATION = data.StructLayout({"lanes": WARP_SIZE, "all_ordered": 3, "is_own": 1, "in_block": 1})


class WarpOrder(wiring.Component):
    """Compares the writer or the reader of an entry with an access.  Combinational.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_side : ``In(side_layout)``
        Writer or reader.
    i_access : ``In(access_layout(params))``
        The access.
    i_row : ``In(row_layout)``
        Row of its warp.
    i_branch : ``In(branch_layout(params))``
        Branches of its warp, or barriers of some of its lanes.
    o : ``Out(RELATION)``
        What the one is to the other.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i_side": In(struct_layout(params.side_layout)),
            "i_access": In(access_layout(params)),
            "i_row": In(struct_layout(params.row_layout)),
            "i_branch": In(branch_layout(params)),
            "o": Out(RELATION),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        side, row, packet = self.i_side, self.i_row, self.i_access.packet
        same_warp, is_current, by_bit, is_known, behind_barrier = (
            Signal(name=name)
            for name in ("same_warp", "is_current", "by_bit", "is_known", "behind_barrier")
        )
        others = Signal.like(packet.lanes, name="others")
        m.d.comb += [
            same_warp.eq(side.warp == packet.warp),
            is_current.eq(side.clock >= row.start),
            behind_barrier.eq(side.clock <= row.bar),
            by_bit.eq(self._elaborate_bit(m)),
            is_known.eq(self._is_known()),
            self.o.is_own.eq(same_warp & is_current),
            self.o.in_block.eq((block_of(self._params, side) == packet.block) & is_current),
            others.eq(packet.lanes & ~(1 << side.lane)),
            # Each is found late: whoever looks at this unites the three reasons.
            self.o.all_ordered[0].eq(by_bit),
            self.o.all_ordered[1].eq(is_known),
            self.o.all_ordered[2].eq(
                Mux(
                    same_warp,
                    Mux(
                        is_current,
                        side.several | behind_barrier | (side.clock < row.lanes_before),
                        side.clock <= row.own,
                    ),
                    self.o.in_block & behind_barrier,
                )
            ),
            self.o.lanes.eq(Mux(self.o.is_own, others & ~self._elaborate_lanes(m), packet.lanes)),
        ]
        return m

    def _elaborate_bit(self, m: Module) -> Value:
        """Whether the table of knowledge has it by the bit of its block slot."""
        side, table = self.i_side, self.i_row.know
        sm, place = side.warp[self._params.warp_bits :], Signal(range(self._params.hash_bits))
        m.d.comb += place.eq(Cat(Const(0, 3), sm) - sm + side.slot)
        return table.bits.bit_select(place, 1) & (side.clock < table.lossy)

    def _is_known(self) -> Value:
        """Whether an exact entry of the table of knowledge has it."""
        params, side, table = self._params, self.i_side, self.i_row.know
        block, found = block_of(params, side), []
        for number in range(params.known):
            known = table[f"known_{number}"]
            same = Mux(known.is_block, block_of(params, known) == block, known.warp == side.warp)
            found.append(same & (known.clock >= side.clock))
        return Cat(found).any()

    def _elaborate_lanes(self, m: Module) -> Value:
        """Lanes that the branches, or the barriers of some lanes, order behind the side's.

        In lockstep the outermost branch decides whose running lanes its lane is not of.
        """
        params, side, branch = self._params, self.i_side, self.i_branch
        if not params.independent_threads:
            is_ordered: Value = Const(1, 1)
            for place in reversed(range(params.levels)):
                level = branch.levels[place]
                waits = (branch.depth > place) & ~level.active.bit_select(side.lane, 1)
                is_ordered = Mux(waits, side.clock < level.clock, is_ordered)
            return is_ordered.replicate(WARP_SIZE)
        met = [(side.clock < branch.lanes_before).replicate(WARP_SIZE)]
        for record in branch.records:
            has_met = (side.clock < record.clock) & record.lanes.bit_select(side.lane, 1)
            tile = in_tile(side.lane, record.tile) & record.lanes
            met.append(tile & has_met.replicate(WARP_SIZE))
        return reduce(or_, met)
