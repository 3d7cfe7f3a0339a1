"""Kernels of a trace: the block, warp and thread of each event.

Blocks and warps are numbered in the order of placement, so that a reused slot is another block.

Ref: BARRACUDA (PLDI'17) Section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from racetrap.golden_model.events import (
    ALL_LANES,
    BLOCK_BARRIERS,
    SHARED_BITS,
    WARP_SIZE,
    EventKind,
    Space,
)
from racetrap.golden_model.trace import Trace

#: More block slots than an SM can have: makes one key of an SM and a slot.
_SLOT_SPAN = 256
_BLOCK_KINDS = (
    EventKind.BLOCK_PLACED,
    EventKind.BLOCK_RETIRED,
    EventKind.KERNEL_BEGIN,
    EventKind.KERNEL_END,
)


def kernels_of(trace: Trace) -> Iterator[Kernel]:
    """Kernels in the order of the trace."""
    kinds = np.ascontiguousarray(trace.events["kind"])
    begins = np.flatnonzero(kinds == EventKind.KERNEL_BEGIN)
    ends = np.flatnonzero(kinds == EventKind.KERNEL_END)
    for number, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        yield Kernel(trace, number, begin, end)


class Kernel:
    """Events of one launch with their places.  Rows count from the kernel's begin, as 0.

    Parameters
    ----------
    trace : Trace
        Trace that the kernel is part of.
    number : int
        Number of the launch in the trace, from 0.
    begin, end : int
        Numbers of the events KERNEL_BEGIN and KERNEL_END.

    Attributes
    ----------
    events, lanes : numpy.ndarray
        The kernel's records; ``first_lane`` counts in the whole trace.
    kind : numpy.ndarray
        Kind of each event.
    grid_block : numpy.ndarray
        Index in the grid of each block.
    first_warp, warp_count : numpy.ndarray
        Warps of each block.
    cluster : numpy.ndarray
        Block of rank 0 in the cluster of each block: the block itself, if it has no cluster.
    warp_block : numpy.ndarray
        Block of each warp.
    live : numpy.ndarray
        Mask of the threads of each warp.
    """

    def __init__(self, trace: Trace, number: int, begin: int, end: int) -> None:
        self.number = number
        self.begin = begin
        self.events = trace.events[begin:end]
        self.kind = np.ascontiguousarray(self.events["kind"])
        first, last = (int(row["first_lane"]) for row in trace.events[[begin, end]])
        self.lanes = trace.lanes[first:last]
        self.first_lane = first
        self._place()

    def _place(self) -> None:
        rows = self._rows_placed = np.flatnonzero(self.kind == EventKind.BLOCK_PLACED)
        placed = self.events[rows]
        self.grid_block = placed["grid_block"].astype(np.int64)
        self.warp_count = placed["warp_count"].astype(np.int64)
        self.first_warp = np.cumsum(self.warp_count) - self.warp_count
        self.warp_block = np.repeat(np.arange(len(rows)), self.warp_count)
        self.cluster = np.arange(len(rows)) - placed["size"]
        self.live = np.full(len(self.warp_block), ALL_LANES, dtype=np.int64)
        self.live[self.first_warp + self.warp_count - 1] = np.where(
            placed["mask"] != 0, placed["mask"], ALL_LANES
        )

    @cached_property
    def block(self) -> np.ndarray:
        """Block of each event, -1 for those without a block."""
        events, rows = self.events, self._rows_placed
        key = (events["sm"].astype(np.int64) * _SLOT_SPAN + events["slot"]) * len(events)
        key += np.arange(len(events))
        order = np.argsort(key[rows])
        block = np.full(len(events), -1, dtype=np.int32)
        acts = np.flatnonzero(~np.isin(self.kind, _BLOCK_KINDS))
        if len(rows):
            block[acts] = order[np.searchsorted(key[rows][order], key[acts]) - 1]
        return block

    @cached_property
    def warp(self) -> np.ndarray:
        """Warp of each event of a warp, -1 for others."""
        warp = np.full(len(self.events), -1, dtype=np.int32)
        acts = np.flatnonzero(~np.isin(self.kind, (*_BLOCK_KINDS, *BLOCK_BARRIERS)))
        owner = self.block[acts]
        first = self.events["warp"][self._rows_placed]
        warp[acts] = self.first_warp[owner] + self.events["warp"][acts] - first[owner]
        return warp

    @property
    def accesses(self) -> np.ndarray:
        """Rows of loads, stores and atomics."""
        return np.flatnonzero(self.kind <= EventKind.ATOMIC)

    def warps_of(self, block: int) -> range:
        """Warps of a block."""
        first = int(self.first_warp[block])
        return range(first, first + int(self.warp_count[block]))

    def thread(self, warp: int, lane: int) -> int:
        """Index in its block of a lane of a warp."""
        first = int(self.first_warp[self.warp_block[warp]])
        return (warp - first) * WARP_SIZE + lane

    def mask(self, row: int) -> int:
        """Lanes of a warp's event."""
        return int(self.events["mask"][row]) or ALL_LANES

    def lane_slice(self, row: int) -> slice:
        """Records of ``lanes`` that belong to an access."""
        first = int(self.events["first_lane"][row]) - self.first_lane
        return slice(first, first + int(self.events["mask"][row]).bit_count())

    def space_base(self, row: int) -> int:
        """Offset that separates addresses of different memories and blocks: blocks of a cluster
        have consecutive numbers, as their ranks are."""
        if self.events["space"][row] == Space.GLOBAL:
            return 0
        return (1 << 64) + (int(self.cluster[self.block[row]]) << SHARED_BITS)
