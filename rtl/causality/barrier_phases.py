"""Phases of barriers: what some warps have learnt, first united in one record, then in each.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Const, Mux, Signal, Value

from racetrap.golden_model.causality.packets import TransactionKind
from racetrap.rtl.causality.collector_phases import ALL, Phases, Routine
from racetrap.rtl.causality.knowledge_table import latest
from racetrap.rtl.causality.learning import Phase


@dataclass
class Barrier:
    """Warps that meet at a barrier."""

    joins: Value
    is_waiting: Value
    clock: Value
    top: Signal
    bar: Signal
    own: Signal
    final: Signal
    other: Value
    other_waits: Value
    others_after: Value


class BarrierPhases(Phases):
    """Phases of barriers of a block, or of some of its warps.

    Attributes
    ----------
    met : Value
        Whether a record is of a warp at the barrier.
    """

    def phases(self, marker: Any, barrier: Barrier, warp: Value) -> list[Phase]:
        """All that any of some warps knows and carries, first for one, then for each of them."""
        giver, taker = self.giver, self.taker
        gather, whole, some = (
            self.during(each) for each in (Routine.GATHER, Routine.WHOLE, Routine.SOME)
        )
        meets_now = Mux(gather, barrier.joins, barrier.is_waiting)
        self.met = (gather | whole | some) & meets_now
        gather, goes_on = gather & barrier.joins, barrier.is_waiting
        whole, some = whole & goes_on, some & goes_on
        meets, through = gather | whole | some, taker.through_blocks
        other = self.known(barrier.other, taker.block, barrier.clock, barrier.other_waits)
        fenced = giver.sc & gather.replicate(3)
        nothing = self.known(Const(0, 1), Const(0, 1), Const(0, 1))
        leaves = self.during(Routine.WHOLE, Routine.SOME)
        leaves = leaves & (marker.kind == TransactionKind.PARTIAL_BARRIER)
        bar = Mux(whole, barrier.top, latest(self.m, [taker.bar, barrier.bar]))
        return [
            Phase(
                gather,
                [barrier.top.eq(latest(self.m, [barrier.top, barrier.clock])),
                 barrier.bar.eq(latest(self.m, [barrier.bar, giver.bar])),
                 barrier.own.eq(latest(self.m, [barrier.own, giver.own]))],
                "know", nothing, fenced,
            ),
            Phase(leaves, [taker.arrived.eq(taker.arrived & ~(1 << marker.number))]),
            Phase(whole, [Value.cast(taker[name]).eq(0) for name in ALL]),
            *(Phase(meets & Value.cast(giver[name]).any(), target=name, sources=(name,))
              for name in ALL),
            Phase(
                (gather | whole) & (Value.cast(giver.through).any() | giver.through_blocks.any()),
                [through.eq(through | giver.through_blocks)], "through", sources=("through",),
            ),
            Phase(some, passes=True),
            Phase(
                some & barrier.others_after.any(), target="know", known=other,
                repeats=(barrier.others_after & (barrier.others_after - 1)).any(),
            ),
            Phase(whole | some, [taker.bar.eq(bar)]),
            Phase(whole, [taker.own.eq(barrier.own)]),
            Phase(whole | some, self.settled(warp)),
            Phase(whole, [taker[name].eq(barrier.final) for name in ("clock", "lanes_before")]),
            Phase(some, self._behind(barrier)),
        ]  # fmt: skip

    def _behind(self, barrier: Barrier) -> list:
        clock = latest(self.m, [self.taker.clock, barrier.top + 1])
        return [self.taker.clock.eq(clock), self.taker.lanes_before.eq(clock)]
