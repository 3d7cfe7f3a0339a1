"""Barriers: the knowledge of the warps that meet is merged, and each of them receives it.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.learning import Carried, Learning
from racetrap.golden_model.causality.packets import Marker


class BarrierPhases(Learning):
    """Barriers of a block, or of some of its warps."""

    def barrier(self, block: int) -> None:
        """All warps of a block pass a barrier."""
        warps = self._blocks[block]
        self._whole_barrier(block, {warp: self.carried[warp].clock for warp in warps})

    def partial_barrier(self, marker: Marker) -> None:
        """Some warps of a block pass a barrier, at which others have arrived."""
        block, waiting = self._blocks[marker.block], []
        clocks: dict[int, int] = {}
        for place, warp in enumerate(block):
            carried = self.carried[warp]
            if marker.warps >> place & 1:
                waiting.append(warp)
                clocks[warp] = carried.clock
            elif carried.arrived >> marker.number & 1:
                clocks[warp] = carried.arrived_clock
            carried.arrived &= ~(1 << marker.number)
        if len(waiting) == len(block):
            self._whole_barrier(marker.block, clocks)
        elif waiting:
            self._some_warps(marker.block, waiting, clocks)

    def _whole_barrier(self, block: int, clocks: Mapping[int, int]) -> None:
        know, together = self._together(block, clocks)
        own, top = max(self.rows[warp].own for warp in clocks), max(clocks.values())
        clock = 1 + max(top, know.latest)
        for warp in clocks:
            row, carried = self.rows[warp], self.carried[warp]
            for table in (row.know, carried.here, carried.far):
                table.clear()
            self._join_together(warp, know, together)
            carried.through.join(together.through)
            carried.through_blocks |= together.through_blocks
            row.bar, row.own, row.records = top, own, []
            self._settle(warp)
            carried.clock = row.lanes_before = clock
        self._note(clock)

    def _together(self, block: int, warps: Iterable[int]) -> tuple[Knowledge, Carried]:
        """What any of some warps of a block knows, and what any of them carries."""
        know = Knowledge(self._params, self._params.known, self._counts)
        together = Carried(self._params, self._counts)
        together.block = block
        for warp in warps:
            carried = self.carried[warp]
            know.fenced |= carried.sc
            know.join(self.rows[warp].know)
            together.here.join(carried.here)
            together.far.join(carried.far)
            together.through.join(carried.through)
            together.through_blocks |= carried.through_blocks
            self._pass_seen(carried, together, same_block=True)
        return know, together

    def _join_together(self, warp: int, know: Knowledge, together: Carried) -> None:
        carried = self.carried[warp]
        self.rows[warp].know.join(know)
        carried.here.join(together.here)
        carried.far.join(together.far)
        self._pass_seen(together, carried, same_block=True)

    def _some_warps(self, block: int, waiting: Sequence[int], clocks: Mapping[int, int]) -> None:
        know, together = self._together(block, clocks)
        bar, top = max(self.rows[warp].bar for warp in clocks), max(clocks.values())
        for warp in waiting:
            row, carried = self.rows[warp], self.carried[warp]
            self._join_together(warp, know, together)
            self._pass_through(together, carried)
            for other, clock in clocks.items():
                if other != warp:
                    # The clock of one that has arrived alone may be that of a later arrival.
                    row.know.put(Known(other, block, clock, direct=other in waiting))
            row.bar = max(row.bar, bar)
            self._settle(warp)
            carried.clock = max(carried.clock, top + 1)
            row.lanes_before, row.records = carried.clock, []
            self._note(carried.clock)
