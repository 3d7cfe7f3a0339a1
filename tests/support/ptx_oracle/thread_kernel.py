"""Kernel whose threads are scheduled independently: each is a warp of its own, of one lane.

Ref: PTX ISA 9.0, Sections 3.1 (independent thread scheduling) and 9.7.13.2 (bar.warp.sync).
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.events import ALL_LANES, WARP_SIZE, EventKind, lanes_of
from racetrap.golden_model.trace.container.arrays import bit_counts, ranges

#: Events of lanes that others than these do not take part in.
_OF_LANES = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.EXIT)
#: Branches order nothing here.
_BRANCHES = (EventKind.IF, EventKind.ELSE, EventKind.FI)


class ThreadKernel(Kernel):
    """A kernel, thread by thread: rows of its own, and threads instead of warps.

    Parameters
    ----------
    kernel : Kernel
        The kernel, warp by warp.

    Attributes
    ----------
    source_rows : numpy.ndarray
        Row in the kernel of each row here.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.number, self.begin = kernel.number, kernel.begin
        self.lanes, self.first_lane = kernel.lanes, kernel.first_lane
        self._expand(kernel)
        self.grid_block, self.cluster = kernel.grid_block, kernel.cluster
        self.first_warp = kernel.first_warp * WARP_SIZE
        self.warp_count = kernel.warp_count * WARP_SIZE
        self.warp_block = np.repeat(kernel.warp_block, WARP_SIZE)
        self.live = np.ones(len(self.warp_block), dtype=np.int64)

    def _expand(self, kernel: Kernel) -> None:
        mask = kernel.events["mask"].astype(np.int64)
        mask[mask == 0] = ALL_LANES
        is_of_lanes = np.isin(kernel.kind, _OF_LANES)
        counts = np.where(is_of_lanes, bit_counts(mask.astype(np.uint32)), 1)
        counts[np.isin(kernel.kind, _BRANCHES)] = 0
        rows = np.repeat(np.arange(len(counts)), counts)
        order = ranges(np.zeros(len(counts), dtype=np.int64), counts)
        lane = np.array(
            [
                each
                for row in np.flatnonzero(counts).tolist()
                for each in (lanes_of(int(mask[row])) if is_of_lanes[row] else (0,))
            ],
            dtype=np.int64,
        )
        events = kernel.events[rows].copy()
        own = is_of_lanes[rows]
        events["first_lane"] += np.where(own, order, 0).astype(np.uint64)
        events["success_mask"] = events["success_mask"] >> lane.astype(np.uint32) & 1
        events["mask"] = np.where(own, 1, events["mask"])
        self.source_rows, self.events = rows, events
        self.kind, self.block = kernel.kind[rows], kernel.block[rows]
        self.warp = np.where(kernel.warp[rows] >= 0, kernel.warp[rows] * WARP_SIZE + lane, -1)
