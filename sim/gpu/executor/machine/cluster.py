"""Cluster of blocks: their shared memories, one behind the other, and their barrier.

The shared memory of the block of rank r begins at ``r << SHARED_BITS`` in the window of shared
memory, so that an address is of one block of the cluster whichever of its threads has it.

Ref: PTX ISA 9.0, Sections 2.2.2 (Cluster of Cooperative Thread Arrays), 5.1.7 (shared),
9.7.9.23 (mapa), 9.7.9.24 (getctarank) and 9.7.13.4 (barrier.cluster).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racetrap.golden_model.events import SHARED_BITS, MemoryOrder
from racetrap.sim.gpu.executor.machine.lanes import row_of
from racetrap.sim.gpu.executor.machine.memory import Views

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
    from racetrap.sim.gpu.executor.machine.warp import Warp
    from racetrap.sim.gpu.executor.machine.weak_memory import Arrival

#: Bits of an address in shared memory that do not say whose it is.
OFFSETS = (1 << SHARED_BITS) - 1
_RANKS = 0xFF << SHARED_BITS
_NAME = "the barrier of its cluster"


class _Waiting(NamedTuple):
    """Lanes of a warp that wait at the barrier."""

    warp: Warp
    mask: int
    pc: int


class Cluster:
    """Blocks that are placed together; a block without a cluster is alone in one.

    Parameters
    ----------
    launch : Launch
        Launch that it belongs to.
    first : int
        Number in the grid of its block of rank 0.
    size : int
        Number of its blocks.
    shared_size : int
        Bytes of shared memory of a block.
    """

    def __init__(self, launch: Launch, first: int, size: int, shared_size: int) -> None:
        self.launch, self.first, self.size = launch, first, size
        #: Bytes from one block's memory to the next one's.
        self.stride = -(-shared_size // 16) * 16
        self.shared = Views(np.zeros(size * self.stride, np.uint8))
        self.blocks: list[ThreadBlock] = []
        self._arrived: dict[Warp, int] = {}
        self._waiting: list[_Waiting] = []
        #: By warp the lanes that have arrived and not waited, and those of them that need not wait.
        self._between: dict[Warp, int] = {}
        self._open: dict[Warp, int] = {}
        #: For a weak memory, what those that came have seen: in this phase, and in the last one.
        self._given: list[Arrival] = []
        self._given_before: list[Arrival] = []

    def memory_of(self, rank: int) -> Views:
        """Shared memory of a block."""
        return Views(self.shared.raw[rank * self.stride : (rank + 1) * self.stride])

    def place(self, address: int) -> int:
        """Place in the memory of all of an address in the window of shared memory."""
        return (address >> SHARED_BITS) * self.stride + (address & OFFSETS)

    # The barrier

    def arrive(self, warp: Warp, mask: int, order: MemoryOrder, pc: int, place: str) -> None:
        """Lanes arrive: ``barrier.cluster.arrive``."""
        if self._between.get(warp, 0) & mask:
            raise warp.trapped(
                place, "Thread must wait at the barrier of its cluster before it arrives again",
                self._between[warp] & mask,
            )  # fmt: skip
        self._between[warp] = self._between.get(warp, 0) | mask
        self._arrived[warp] = self._arrived.get(warp, 0) | mask
        warp.polls.changed = True
        self.launch.log.cluster_arrival(warp, pc, mask, order)
        if self.launch.weak is not None:
            self._given += self.launch.weak.arrive(warp, mask, order is MemoryOrder.RELEASE)
        self.try_open()

    def wait(self, warp: Warp, mask: int, pc: int, place: str) -> int | None:
        """Lanes wait: ``barrier.cluster.wait``; status for the scheduler.

        The warp's program counter is behind the instruction already.
        """
        strangers = mask & ~self._between.get(warp, 0)
        if strangers:
            raise warp.trapped(
                place, "Thread must arrive at the barrier of its cluster before it waits", strangers
            )
        waiting = _Waiting(warp, mask, pc)
        if self._passes(waiting):
            return None
        self._waiting.append(waiting)
        warp.suspend(_NAME, pc)
        return warp.proceed()

    def _passes(self, waiting: _Waiting) -> bool:
        """Let lanes go on, if their phase is complete."""
        warp, mask, pc = waiting
        if mask & ~self._open.get(warp, 0):
            return False
        self._open[warp] &= ~mask
        self._between[warp] &= ~mask
        warp.polls.changed = True
        self.launch.log.cluster_wait(warp, pc, mask)
        if self._given_before:
            assert self.launch.weak is not None
            self.launch.weak.leave({warp: mask}, self._given_before)
        return True

    def try_open(self) -> None:
        """Complete the phase if all threads that have not ended have arrived."""
        if not self._arrived or any(
            warp.alive & ~self._arrived.get(warp, 0)
            for block in self.blocks for warp in block.warps
        ):  # fmt: skip
            return
        for warp, mask in self._arrived.items():
            self._open[warp] = self._open.get(warp, 0) | mask
        self._arrived = {}
        self._given_before, self._given = self._given, []
        self.launch.progress = True
        waiting, self._waiting = self._waiting, []
        self._waiting += [each for each in waiting if not self._passes(each)]
        for warp in dict.fromkeys(each.warp for each in waiting):
            warp.release(_NAME)


def mapped(warp: Warp, place: str, addresses: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """``mapa``: the address in other blocks of the cluster of what an address is in one.

    Raises
    ------
    KernelFault
        If the cluster has no block of that rank.
    """
    cluster = warp.block.cluster
    strangers = sum(1 << lane for lane in np.flatnonzero(ranks >= cluster.size).tolist())
    if strangers := strangers & warp.mask:
        rank = int(ranks[row_of(strangers)][0])
        raise warp.trapped(
            place, f"Rank of mapa must be below {cluster.size}, the blocks of the cluster, "
            f"not {rank}", strangers,
        )  # fmt: skip
    kept = addresses & addresses.dtype.type(~_RANKS & (1 << 8 * addresses.itemsize) - 1)
    return kept | ranks.astype(addresses.dtype) << addresses.dtype.type(SHARED_BITS)


def ranks_of(addresses: np.ndarray) -> np.ndarray:
    """``getctarank``: the rank of the block whose shared memory an address is in."""
    return (addresses >> addresses.dtype.type(SHARED_BITS) & addresses.dtype.type(0xFF)).astype(
        np.uint32
    )
