"""Phases of the collector: what a record takes in at each notice and each marker, in order.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.knowledge_table import latest
from racetrap.rtl.causality.learning import Learning
from racetrap.rtl.common.bits import lowest_one_hot
from racetrap.rtl.common.layout import struct_layout

#: What a warp takes over of another: whatever that has learnt and carries.
ALL = ("know", "here", "far")


class Routine(IntEnum):
    """What the collector is at; each is a bit."""

    WRITER = 0
    READER = 1
    FENCE = 2
    BEGIN = 3
    END = 4
    ARRIVE = 5
    ADVANCE = 6
    START = 7
    END_READ = 8
    END_WRITTEN = 9
    GATHER = 10
    WHOLE = 11
    SOME = 12


class Phases:
    """What all phases have in common.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    m : Module
        Module of the collector.
    learning : Learning
        Records.
    routine : Signal
        A bit of each ``Routine``.
    """

    def __init__(self, params: CausalityParams, m: Module, learning: Learning, routine: Value):
        self.params, self.m, self.routine = params, m, routine
        self.taker, self.giver = learning.taker, learning.giver

    def during(self, *routines: Routine) -> Value:
        """Whether one of some routines runs."""
        return Cat(self.routine[each] for each in routines).any()

    def known(self, warp: Value, block: Value, clock: Value, direct: Any = 0) -> data.View:
        """Exact entry of a warp, in a block, up to a clock."""
        known = Signal(struct_layout(self.params.known_layout))
        self.m.d.comb += [
            known.warp.eq(warp), known.slot.eq(block), known.clock.eq(clock),
            known.direct.eq(direct),
        ]  # fmt: skip
        return known

    def least(self, one: Value, other: Value) -> Value:
        """The smaller of two clocks."""
        return Mux(one < other, one, other)[: self.params.clock_bits]

    def settled(self, warp: Value) -> list:
        """Draw what a row's knowledge says of its own slot, and advance the warp's clock."""
        params, row, m = self.params, self.taker, self.m
        count = params.known
        places = [row.know[f"known_{place}"] for place in range(count)]
        mine = lowest_one_hot(
            Cat(
                (place.clock >= row.start) & ~place.is_block & (place.warp == warp)
                for place in places
            )
        )
        own, beyond = Signal(params.clock_bits), Signal(params.clock_bits)
        assigns = [row.sc.eq(row.sc | row.know.fenced),
                   row.ever.eq(row.ever | row.sc | row.know.fenced)]  # fmt: skip
        clocks = [Const(0, params.clock_bits)]
        for number, place in enumerate(places):
            with m.If(mine[number]):
                m.d.comb += own.eq(place.clock)
            clocks.append(Mux(mine[number], 0, place.clock)[: params.clock_bits])
            behind: Any = places[number + 1] if number + 1 < count else 0
            with_gap = mine[: number + 1].any()
            assigns.append(
                Value.cast(place).eq(
                    Mux(with_gap, behind if isinstance(behind, int) else Value.cast(behind),
                        Value.cast(place))
                )
            )  # fmt: skip
        m.d.comb += beyond.eq(latest(m, clocks) + 1)
        has_own = mine.any()
        older = Mux(has_own, row.start - 1, 0)[: params.clock_bits]
        return [
            *assigns,
            row.lanes_before.eq(latest(m, [row.lanes_before, Mux(has_own, own + 1, 0)])),
            row.own.eq(latest(m, [row.own, older])),
            # What has come back to the warp goes on with its messages, whatever it released itself.
            *(row[name].eq(latest(m, [row[name], own])) for name in ("release", "release_device")),
            row.clock.eq(latest(m, [row.clock, beyond])),
        ]


def has_exact(table: data.View, places: int) -> Value:
    """Whether a table has an exact entry."""
    return Cat(table[f"known_{place}"].clock != 0 for place in range(places)).any()
