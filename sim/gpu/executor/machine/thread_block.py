"""Thread block on an SM: its warps, its shared memory and its barriers.

Ref: PTX ISA 9.0, Section 9.7.13.1 (bar).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from racetrap.golden_model.events import SHARED_BITS, WARP_SIZE
from racetrap.sim.gpu.executor.machine.lane_moves import address_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.cluster import Cluster
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.warp import Warp
    from racetrap.sim.gpu.executor.machine.weak_memory import Arrival


class Barrier:
    """One of the sixteen barriers of a block, while anyone is at it.

    Parameters
    ----------
    threads : int, optional
        Threads that must come, a multiple of the warp size; by default all warps that have
        not ended.
    pc : int
        Instruction of the first that came, in traces.
    """

    def __init__(self, threads: int | None, pc: int):
        self.pc = pc
        self.warps = None if threads is None else threads // WARP_SIZE
        self.arrived: dict[Warp, int] = {}
        self.waiting: list[Warp] = []
        #: For ``bar.red``: how many threads came, how many with a true predicate, and what is
        #: to be done with the two counts.
        self.threads = self.true = 0
        self.deliveries: list[Callable[[int, int], None]] = []
        #: What those that came have seen, for a weak memory.
        self.given: list[Arrival] = []


class ThreadBlock:
    """A block on an SM.

    Parameters
    ----------
    cluster : Cluster
        Cluster that it belongs to, as the block of the next rank.
    index : int
        Number in the grid.
    sm, slot : int
        Where it is placed.
    shared_size : int
        Bytes of its shared memory.

    Attributes
    ----------
    window : int
        Address of its memory in the window of shared memory.
    """

    def __init__(self, cluster: Cluster, index: int, sm: int, slot: int, shared_size: int):
        self.launch: Launch = cluster.launch
        self.index, self.sm, self.slot = index, sm, slot
        self.cluster, self.rank = cluster, len(cluster.blocks)
        cluster.blocks.append(self)
        self.window = self.rank << SHARED_BITS
        self.shared_size, self.shared = shared_size, cluster.memory_of(self.rank)
        self.shared_address = address_of(self.shared.raw)
        self.warps: list[Warp] = []
        self._barriers: dict[int, Barrier] = {}

    def arrive(
        self, warp: Warp, mask: int, number: int, threads: int | None, waits: bool, pc: int
    ) -> Barrier:
        """Lanes of a warp arrive at a barrier; `try_open` releases those that wait."""
        barrier = self._barriers.setdefault(number, Barrier(threads, pc))
        barrier.arrived[warp] = barrier.arrived.get(warp, 0) | mask
        warp.polls.changed = True
        if self.launch.weak is not None:
            barrier.given += self.launch.weak.arrive(warp, mask)
        if waits:
            barrier.waiting.append(warp)
            warp.suspend(f"barrier {number}", pc)
        else:
            self.launch.log.arrival(warp, pc, number)
        return barrier

    def try_open(self, number: int, pc: int) -> None:
        """Open a barrier if all threads that it waits for have arrived."""
        barrier = self._barriers[number]
        wanted = barrier.warps
        if wanted is None:
            wanted = len([warp for warp in self.warps if warp.alive])
        if len(barrier.arrived) < wanted:
            return
        if sum(warp.has_arrived(mask) for warp, mask in barrier.arrived.items()) < wanted:
            return
        del self._barriers[number]
        waiting = set(barrier.waiting)
        # Warps that have ended count as being at a barrier of all, but not at others.
        if waiting.issuperset(w for w in self.warps if w.alive or barrier.warps is not None):
            self.launch.log.barrier(self, pc)
        else:
            mask = sum(1 << n for n, warp in enumerate(self.warps) if warp in waiting)
            self.launch.log.partial_barrier(self, pc, number, mask)
        self.launch.progress = True
        if self.launch.weak is not None:
            passing = {warp: barrier.arrived[warp] for warp in barrier.waiting}
            self.launch.weak.leave(passing, barrier.given)
        for deliver in barrier.deliveries:
            deliver(barrier.threads, barrier.true)
        for warp in dict.fromkeys(barrier.waiting):
            warp.release(f"barrier {number}")

    @property
    def has_ended(self) -> bool:
        """Whether all its threads have."""
        return not any(warp.alive for warp in self.warps)

    def lanes_ended(self, warp: Warp) -> None:
        """Lanes of a warp have ended: a barrier may have waited only for them."""
        self.cluster.try_open()
        for number, barrier in list(self._barriers.items()):
            if barrier.warps is None:
                barrier.arrived = {w: mask for w, mask in barrier.arrived.items() if w.alive}
            if barrier.arrived:
                self.try_open(number, barrier.pc)
