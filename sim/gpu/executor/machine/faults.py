"""Errors of memory accesses: thread, place, address and the nearest buffer.

Only made when something is wrong, so that the accesses themselves stay short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import lanes_of
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.memory import Heap
from racetrap.sim.gpu.ptx.kernel_names import written_name

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Access
    from racetrap.sim.gpu.executor.machine.warp import Warp


def thread_name(warp: Warp, lane: int) -> str:
    """Three-dimensional thread and block of a lane, and its kernel."""
    launch = warp.block.launch
    thread = launch.thread_position(warp.index, lane)
    block = launch.block_position(warp.block.index)
    return f"thread {thread} of block {block}, kernel {written_name(launch.kernel_name)}"


def _error(
    fault: Fault, warp: Warp, access: Access, lane: int, rule: str, value: str
) -> KernelFault:
    return KernelFault(
        fault,
        f"{access.place}: address of {access.instruction.name} must be {rule}, not {value} "
        f"({thread_name(warp, lane)})",
    )


def _first_bad(mask: int, bad: np.ndarray) -> tuple[int, int]:
    """Lane and position of the first lane that is wrong."""
    position = int(np.flatnonzero(bad)[0])
    return lanes_of(mask)[position], position


def _misaligned(warp: Warp, access: Access, mask: int, address: np.ndarray) -> KernelFault | None:
    odd = address % access.size != 0
    if not odd.any():
        return None
    lane, position = _first_bad(mask, odd)
    return _error(
        Fault.MISALIGNED_ADDRESS,
        warp,
        access,
        lane,
        f"a multiple of {access.size}",
        f"{int(address[position]):#x}",
    )


def _neighbour(heap: Heap, address: int) -> str:
    nearest = heap.before(address) or next(iter(heap.buffers), None)
    if nearest is None:
        return "there is no buffer"
    if address < nearest.address:
        return f"{nearest.address - address} bytes before {nearest}"
    behind = address - nearest.address - nearest.size
    if behind < 0:
        return f"across the end of {nearest}"
    return f"{behind} bytes past the end of {nearest}"


def heap_fault(warp: Warp, access: Access, mask: int, address: np.ndarray) -> KernelFault | None:
    """The error of the first lane that does not access a buffer as it must, if there is one."""
    heap = warp.heap
    bad = np.array([not _inside(heap, int(first), access.size) for first in address])
    if not bad.any():
        return _misaligned(warp, access, mask, address)
    lane, position = _first_bad(mask, bad)
    value = int(address[position])
    return _error(
        Fault.ILLEGAL_ADDRESS, warp, access, lane, "inside a buffer",
        f"{value:#x}, {_neighbour(heap, value)}",
    )  # fmt: skip


def _inside(heap: Heap, first: int, size: int) -> bool:
    buffer = heap.find(first)
    return buffer is not None and first + size <= buffer.address + buffer.size


def cluster_fault(warp: Warp, access: Access, mask: int, rank: np.ndarray) -> KernelFault:
    """The error of the first lane that accesses shared memory of a block that its cluster does not
    have, or that has ended."""
    cluster = warp.block.cluster
    known = (rank >= 0) & (rank < cluster.size)
    ended = np.array([n < cluster.size and cluster.blocks[n].has_ended for n in rank.tolist()])
    lane, position = _first_bad(mask, ~known | ended)
    number = int(rank[position])
    if not known[position]:
        rule = f"in shared memory of one of the {cluster.size} blocks of the cluster"
        return _error(Fault.TRAP, warp, access, lane, rule, f"of rank {number}")
    block = warp.launch.block_position(cluster.blocks[number].index)
    return _error(
        Fault.TRAP, warp, access, lane, "in shared memory of a block that has not ended",
        f"that of block {block}, which has; wait for the others at the barrier of the cluster "
        "before a block ends",
    )  # fmt: skip


def small_memory_fault(
    warp: Warp, access: Access, mask: int, address: np.ndarray, size: int, name: str
) -> KernelFault:
    """The error of the first lane that leaves a shared, local or parameter memory."""
    bad = (address < 0) | (address > size - access.size)
    if not bad.any():
        error = _misaligned(warp, access, mask, address)
        assert error is not None
        return error
    lane, position = _first_bad(mask, bad)
    # Addresses of 32 bits wrap: what is written before the memory is at the upper end.
    value = int(address[position].astype(np.int32))
    # CUDA calls it so outside global memory.
    return _error(
        Fault.TRAP, warp, access, lane, f"inside the {size} bytes of {name} memory",
        f"{value:#x}",
    )  # fmt: skip
