"""Special registers of PTX as rows of 32 values.

Ref: PTX ISA 9.0, Section 10.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import ALL_LANES, WARP_SIZE
from racetrap.sim.gpu.executor.machine.lanes import LANE_IDS

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
    from racetrap.sim.gpu.executor.machine.warp import Warp


Row = np.ndarray
_AXES = "xyz"


def _row(value: int) -> Row:
    return np.full(WARP_SIZE, value & 0xFFFFFFFF, np.uint32)


def _clock(part: Callable[[int], Row]) -> Callable[[Warp, int], Row]:
    """Reader of a clock, by a warp that has run some instructions of its turn."""

    def read(warp: Warp, instructions: int) -> Row:
        launch = warp.launch
        # A warp that reads the time may be waiting for it: other warps run in the meantime.
        launch.timed = warp.polled = warp.polls.changed = True
        return part(launch.time + instructions)

    return read


_low = _clock(_row)
_high = _clock(lambda time: _row(time >> 32))
_whole = _clock(lambda time: np.full(WARP_SIZE, time, np.uint64))
#: Registers that change while a warp runs, see `Launch.time`.
CLOCKS: dict[str, Callable[[Warp, int], Row]] = {
    "%clock": _low, "%clock_hi": _high, "%clock64": _whole,
    "%globaltimer": _whole, "%globaltimer_lo": _low, "%globaltimer_hi": _high,
}  # fmt: skip


def _lane_masks() -> dict[str, Row]:
    own = (1 << LANE_IDS).astype(np.uint32)
    below = own - np.uint32(1)
    return {
        "%laneid": LANE_IDS.astype(np.uint32),
        "%lanemask_eq": own,
        "%lanemask_lt": below,
        "%lanemask_le": below | own,
        "%lanemask_gt": ALL_LANES & ~(below | own),
        "%lanemask_ge": ALL_LANES & ~below,
    }


def launch_rows(launch: Launch) -> dict[str, Row]:
    """Registers that are the same in all warps of a launch."""
    geometry = launch.geometry
    rows = _lane_masks()
    for axis, threads, blocks in zip(_AXES, launch.block_shape, launch.grid, strict=True):
        rows[f"%ntid.{axis}"] = _row(threads)
        rows[f"%nctaid.{axis}"] = _row(blocks)
    for axis, clusters, size in zip(_AXES, launch.clusters, launch.cluster, strict=True):
        rows[f"%nclusterid.{axis}"], rows[f"%cluster_nctaid.{axis}"] = _row(clusters), _row(size)
    rows["%cluster_nctarank"] = _row(prod(launch.cluster))
    rows["%is_explicit_cluster"] = _row(launch.has_clusters)
    rows["%nwarpid"] = _row(geometry.warps_per_sm)
    rows["%nsmid"] = _row(geometry.sm_count)
    rows["%gridid"] = _row(launch.number)
    rows["%total_smem_size"] = _row(launch.shared_size)
    rows["%dynamic_smem_size"] = _row(launch.dynamic_shared)
    # Where cooperative groups find the counter of a barrier of the grid.
    rows["%envreg1"] = _row(launch.grid_workspace >> 32)
    rows["%envreg2"] = _row(launch.grid_workspace)
    return rows


def special_rows(
    names: list[str], launch: Launch, block: ThreadBlock, index: int, number: int
) -> list[Row]:
    """Rows of the registers called ``names`` for warp ``index`` of a block, in its slot."""
    threads = np.arange(index * WARP_SIZE, (index + 1) * WARP_SIZE)
    width, height, _ = launch.block_shape
    thread = (threads % width, threads // width % height, threads // (width * height))
    place = launch.block_position(block.index)
    own: dict[str, Row] = {"%warpid": _row(number), "%smid": _row(block.sm)}
    for axis, position, coordinate in zip(_AXES, thread, place, strict=True):
        own[f"%tid.{axis}"] = position.astype(np.uint32)
        own[f"%ctaid.{axis}"] = _row(coordinate)
    for axis, coordinate, size in zip(_AXES, place, launch.cluster, strict=True):
        own[f"%clusterid.{axis}"] = _row(coordinate // size)
        own[f"%cluster_ctaid.{axis}"] = _row(coordinate % size)
    own["%cluster_ctarank"] = _row(block.rank)
    common = launch.common_rows
    return [own[name] if name in own else common[name] for name in names]
