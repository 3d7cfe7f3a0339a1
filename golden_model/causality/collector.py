"""Collector: what warps have learnt from each other, and have not yet acquired.

It takes the meetings that banks find, in their order, and settles markers: fences, barriers,
operations that release or acquire, begin and end of blocks.  Rows of warps are its result.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from racetrap.golden_model.causality.barrier_phases import BarrierPhases
from racetrap.golden_model.causality.marker_phases import MarkerPhases
from racetrap.golden_model.causality.meeting_phases import MeetingPhases


class Collector(MeetingPhases, MarkerPhases, BarrierPhases):
    """Keeps the records of all warps: takes steps and markers, and begins epochs."""

    @property
    def latest(self) -> int:
        """Largest clock of a warp."""
        return self._latest

    def has_fenced(self) -> bool:
        """Whether any warp has passed a ``fence.sc`` in this launch."""
        return self._has_fenced

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name since construction."""
        return dict(self._counts)

    def begin_epoch(self) -> None:
        """Take all accesses so far as ordered."""
        self._counts["clock_wraps"] += 1
        for row, carried in zip(self.rows, self.carried, strict=True):
            for table in (row.know, *carried.tables):
                table.clear()
            carried.through_blocks = carried.seen_blocks = 0
            carried.flags_read, carried.flags_written = [], []
            carried.fence = carried.fence_device = carried.arrived_clock = 0
            carried.clock = row.start = 1
            row.lanes_before = row.bar = row.own = row.release = row.release_device = 0
            row.records = []
            row.levels = [level._replace(clock=0) for level in row.levels]
        self._latest = 1
