"""Phases of markers of one warp: fences, operations, and blocks that start.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Mux, Value

from racetrap.golden_model.causality.packets import FenceOrder
from racetrap.rtl.causality.collector_phases import Phases, Routine, has_exact
from racetrap.rtl.causality.knowledge_table import hash_of, known_block
from racetrap.rtl.causality.learning import Phase


class MarkerPhases(Phases):
    """Phases of a warp's own record."""

    def operations(self, marker: Any) -> list[Phase]:
        """Fences, operations that release or acquire, and what advances the clock alone."""
        taker, giver, device = self.taker, self.giver, marker.device
        fence, end = self.during(Routine.FENCE), self.during(Routine.END)
        is_sc = fence & (marker.order == FenceOrder.SC)
        acquires = (fence | end) & (marker.order != FenceOrder.RELEASE)
        releases = marker.order != FenceOrder.ACQUIRE
        clock, settled = taker.clock, self.settled(marker.warp)
        begins, arrives = self.during(Routine.BEGIN), self.during(Routine.ARRIVE)
        at, behind = clock, clock + 1
        sc = Cat(is_sc, is_sc & device, Const(0, 1))
        # A row whose knowledge has not changed has been settled before.
        here, far, seen_here, seen_device = (
            Value.cast(giver[name]).any() for name in ("here", "far", "seen_here", "seen_device")
        )
        takes_in, takes_seen = here | (far & device), seen_here | (seen_device & device)

        def released(stamp: Value) -> list:
            return [
                taker.release.eq(stamp),
                taker.release_device.eq(Mux(device, stamp, taker.release_device)),
            ]

        def taken(name: str) -> list:
            return [Value.cast(taker[name]).eq(0)]

        return [
            Phase(begins, [clock.eq(behind), *released(behind)]),
            Phase(end & releases, [clock.eq(behind)]),
            Phase(
                arrives,
                [clock.eq(behind), taker.arrived_clock.eq(at),
                 taker.arrived.eq(taker.arrived | (1 << marker.number))],
            ),
            Phase(self.during(Routine.ADVANCE), [clock.eq(behind)]),
            Phase(
                acquires & here, taken("here"), "know", sources=("here",),
                keeps_direct=1,
            ),
            Phase(
                acquires & device & far, taken("far"), "know",
                sources=("far",), keeps_direct=1,
            ),
            Phase(acquires & takes_in, settled),
            Phase(is_sc & device & seen_device, target="know",
                  sources=("seen_device",)),
            Phase(is_sc & seen_here, target="know",
                  sources=("seen_here",)),
            Phase(is_sc & takes_seen, settled),
            Phase(
                fence & releases,
                [clock.eq(behind), *released(at), taker.sc.eq(taker.sc | sc),
                 taker.fence.eq(Mux(is_sc, at, taker.fence)),
                 taker.fence_device.eq(Mux(is_sc & device, at, taker.fence_device)),
                 taker.ever.eq(taker.ever | taker.sc | sc)],
            ),
        ]  # fmt: skip

    def block_starts(self, marker: Any) -> list[Phase]:
        """What a slot's warp knew goes on in what its messages lead to."""
        start, taker, params = self.during(Routine.START), self.taker, self.params
        is_true = has_exact(taker.seen_here, params.seen) | taker.seen_here.bits.any()
        blocks = taker.seen_blocks
        return [
            Phase(start, target="far", sources=("know",), is_far=1),
            Phase(start, target="far", sources=("here",), is_far=1),
            Phase(start, [Value.cast(taker[name]).eq(0) for name in ("know", "here")]),
            Phase(
                start, target="far",
                known=known_block(self.params, self.m, taker.block, taker.bar),
            ),
            Phase(
                start & is_true, [blocks.eq(blocks | hash_of(params, taker.block))], "seen",
                sources=("seen_here",),
            ),
            Phase(start, [Value.cast(taker.seen_here).eq(0)]),
            Phase(
                start & (blocks & hash_of(params, marker.block)).any(), target="seen_here",
                sources=("seen",),
            ),
            Phase(
                start,
                [taker.block.eq(marker.block),
                 *(taker[name].eq(0) for name in ("retired", "sc", "bar", "own", "arrived")),
                 *(taker[name].eq(marker.clock) for name in ("start", "lanes_before", "clock"))],
            ),
        ]  # fmt: skip
