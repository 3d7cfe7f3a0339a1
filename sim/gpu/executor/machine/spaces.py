"""State spaces: checks of addresses, and the memory and place of each.

Every check looks at all lanes with one reduction: the bitwise or of the offsets is misaligned
if one of them is, is negative if one is, and bounds the greatest from above.  Only when that
does not settle it are the lanes looked at closely.

Ref: PTX ISA 9.0, Section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import ALL_LANES, SHARED_BITS
from racetrap.sim.gpu.executor.machine.cluster import OFFSETS
from racetrap.sim.gpu.executor.machine.faults import cluster_fault, heap_fault, small_memory_fault
from racetrap.sim.gpu.executor.machine.lanes import LANE_IDS, row_of
from racetrap.sim.gpu.executor.machine.memory import Views

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Access
    from racetrap.sim.gpu.executor.machine.warp import Warp


_or = np.bitwise_or.reduce


def _fits(access: Access, offset: np.ndarray, spread: int, limit: int) -> bool:
    """Whether all offsets are aligned and from 0 to ``limit``; ``spread`` is their or."""
    return not spread & access.low_bits and spread >= 0 and int(offset.max()) <= limit


def _in_heap(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    low, limit = warp.bounds[2 * access.number : 2 * access.number + 2]
    offset = address - low
    spread = int(_or(offset))
    if (spread & access.low_bits or not 0 <= spread <= limit) and not _fits(
        access, offset, spread, limit
    ):
        _find_buffer(access, warp, mask, address)
    return warp.heap.views, address


def _find_buffer(access: Access, warp: Warp, mask: int, address: np.ndarray) -> None:
    """Remember the buffer that all lanes access, for the next time; refuse what is in none."""
    buffer = warp.heap.find(int(address[0]))
    if buffer is not None:
        offset, limit = address - buffer.address, buffer.size - access.size
        if _fits(access, offset, int(_or(offset)), limit):
            warp.bounds[2 * access.number : 2 * access.number + 2] = [buffer.address, limit]
            return
    error = heap_fault(warp, access, mask, address)
    if error is not None:
        raise error


def _check_small(
    access: Access, warp: Warp, mask: int, address: np.ndarray, size: int, name: str
) -> None:
    spread = int(_or(address))
    limit = size - access.size
    if (spread & access.low_bits or not 0 <= spread <= limit) and not _fits(
        access, address, spread, limit
    ):
        raise small_memory_fault(warp, access, mask, address, size, name)


def _in_shared(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    block = warp.block
    _check_small(access, warp, mask, address, block.shared_size, "shared")
    return block.shared, address


def _in_own_shared(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    block = warp.block
    place = address - block.window
    _check_small(access, warp, mask, place, block.shared_size, "its own block's shared")
    return block.shared, place


def _in_cluster(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    cluster, rank = warp.block.cluster, address >> SHARED_BITS
    offset = address & OFFSETS
    absent = [n for n, block in enumerate(cluster.blocks) if block.has_ended]
    if int(rank.max()) >= cluster.size or int(rank.min()) < 0 or np.isin(rank, absent).any():
        raise cluster_fault(warp, access, mask, rank)
    _check_small(access, warp, mask, offset, warp.block.shared_size, "a block's shared")
    return cluster.shared, rank * cluster.stride + offset


def _in_local(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    size = warp.local_size
    _check_small(access, warp, mask, address, size, "local")
    lanes = LANE_IDS if mask == ALL_LANES else LANE_IDS[row_of(mask)]
    return warp.local, address + lanes * size


def _in_parameters(
    access: Access, warp: Warp, mask: int, address: np.ndarray
) -> tuple[Views, np.ndarray]:
    launch = warp.launch
    _check_small(access, warp, mask, address, launch.parameter_size, "parameter")
    return launch.parameters, address


#: From an access, its warp, the active lanes and their addresses to a memory and the places
#: in it.  Constants lie in the heap with the other variables of a module.  The second and third of
#: shared memory are for launches in clusters, where an address says whose memory it is in.
SPACES: dict[str, Callable[[Access, Warp, int, np.ndarray], tuple[Views, np.ndarray]]] = {
    "global": _in_heap,
    "const": _in_heap,
    "shared": _in_shared,
    "shared::cta": _in_own_shared,
    "shared::cluster": _in_cluster,
    "local": _in_local,
    "param": _in_parameters,
}
