"""Markers of one warp: fences, operations that release or acquire, begin and end of blocks.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.causality.flags import Flags
from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import Fenced, FenceOrder, Marker


class MarkerPhases(Flags):
    """Markers but those of barriers."""

    def fence(self, marker: Marker) -> list[Race]:
        """A fence: what is pending is taken in, and what follows may be a message."""
        races = []
        order, device = FenceOrder(marker.order), marker.device
        row, carried = self.rows[marker.warp], self.carried[marker.warp]
        carried.clock = marker.clock
        if order.acquires:
            races = self._decide_reads(marker.warp, device)
            self._take_in(marker.warp, device)
            if order == FenceOrder.SC:
                if device:
                    row.know.join(carried.seen_device)
                row.know.join(carried.seen_here)
                self._settle(marker.warp)
        if order.releases:
            self._release(marker.warp, device)
            carried.clock += 1
        if order == FenceOrder.SC:
            carried.fence = carried.clock - 1
            if device:
                carried.fence_device = carried.clock - 1
            carried.sc |= Fenced.BLOCK | (Fenced.DEVICE if device else 0)
            carried.ever |= carried.sc
            self._has_fenced = True
        self._note(carried.clock)
        return races

    def _release(self, warp: int, device: int) -> None:
        row, carried = self.rows[warp], self.carried[warp]
        row.release = carried.clock
        if device:
            row.release_device = carried.clock

    def begin_release(self, marker: Marker) -> None:
        """The begin of a release operation: its accesses have a clock of their own."""
        carried = self.carried[marker.warp]
        carried.clock = marker.clock + 1
        self._release(marker.warp, marker.device)
        self._note(carried.clock)

    def end_operation(self, marker: Marker) -> None:
        """The end of an operation that releases or acquires."""
        order, carried = FenceOrder(marker.order), self.carried[marker.warp]
        carried.clock = marker.clock + order.releases
        if order.acquires:
            carried.flags_read = [
                read for read in carried.flags_read if not (read.same_block or marker.device)
            ]
            self._take_in(marker.warp, marker.device)
        self._note(carried.clock)

    def start_block(self, block: int, warps: Sequence[int], start: int) -> None:
        """A block takes its slots; what they knew goes on in what their messages lead to."""
        for warp in warps:
            row, carried = self.rows[warp], self.carried[warp]
            for table in (row.know, carried.here):
                carried.far.join(table, of_other_block=True)
            carried.here.clear()
            row.know.clear()
            if row.bar:
                carried.far.put(Known(~carried.block, carried.block, row.bar))
            seen = Knowledge(self._params, self._params.seen, self._counts)
            if carried.seen_here:
                carried.seen.join(carried.seen_here)
                carried.seen_blocks |= self._params.hash_of(carried.block)
            if carried.seen_blocks & self._params.hash_of(block):
                seen.join(carried.seen)
            carried.seen_here = seen
            carried.block, carried.retired, carried.arrived = block, False, 0
            carried.sc = 0
            carried.flags_read, carried.flags_written = [], []
            row.bar = row.own = 0
            row.levels, row.depth, row.records = [], 0, []
            row.start = row.lanes_before = carried.clock = start
        self._blocks[block] = list(warps)
        self._note(start)

    def end_block(self, block: int) -> list[Race]:
        """A block's undecided accesses are decided."""
        races = []
        for warp in self._blocks.get(block, ()):
            carried = self.carried[warp]
            races += [self._report(read.race) for read in carried.flags_read]
            races += [self._report(race) for race in carried.flags_written]
            carried.flags_read, carried.flags_written = [], []
            carried.retired = True
        return races

    def arrive(self, marker: Marker) -> None:
        """A warp arrives at a barrier without waiting."""
        carried = self.carried[marker.warp]
        carried.arrived |= 1 << marker.number
        carried.arrived_clock = marker.clock
        carried.clock = marker.clock + 1
        self._note(carried.clock)

    def advance(self, marker: Marker) -> int:
        """A branch or a warp barrier: the warp's clock advances."""
        carried = self.carried[marker.warp]
        carried.clock = marker.clock + 1
        self._note(carried.clock)
        return carried.clock
