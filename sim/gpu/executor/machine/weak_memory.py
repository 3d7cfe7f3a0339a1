"""Weak memory of a launch: what its warps see, by an operational memory model.

Without it memory is sequentially consistent.  A thread of the model is a warp in lockstep, whose
lanes see each other's accesses at once, or a single lane of warps that are scheduled
independently.

Ref: PTX ISA 9.0, Section 8 (Memory Consistency Model).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from racetrap.golden_model.events import WARP_SIZE, EventScope, MemoryOrder, lanes_of
from racetrap.golden_model.ptx_memory_model import Location, Order, Place, Scope
from racetrap.golden_model.ptx_memory_model.operational import (
    WEAK,
    ByteMemory,
    Choices,
    Execution,
    Memory,
    Operation,
    Strength,
    Views,
    WriteBuffers,
)

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Access
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Shared memory of the cluster whose first block is n begins at (n + 1) times this.
BLOCK_STRIDE = 1 << 40
#: Log2 of the bytes of a word.
WORD_BITS = 2
#: Messages kept of a location.
_HISTORY = 16
#: Backward branches of waiting warps, for each warp, before what is held back is let out.
_PATIENCE = 32

#: Orders and scopes of events in PTX's terms; an implied order is that of the instruction.
ORDERS = {
    MemoryOrder.RELAXED: Order.RELAXED, MemoryOrder.ACQUIRE: Order.ACQUIRE,
    MemoryOrder.RELEASE: Order.RELEASE, MemoryOrder.ACQ_REL: Order.ACQ_REL,
}  # fmt: skip
#: There is one device.
SCOPES = {
    EventScope.BLOCK: Scope.CTA, EventScope.CLUSTER: Scope.CLUSTER, EventScope.DEVICE: Scope.GPU,
}  # fmt: skip


def is_shared(location: Location) -> bool:
    """Whether a location lies in the shared memory of a block."""
    return location.address >= BLOCK_STRIDE


def _views(memory: ByteMemory, places: list[Place], choices: Choices, lockstep: bool) -> Memory:
    # Of lanes in lockstep all or none must get the locks that a warp takes at once: those that
    # got none would spin before the others go on.
    return Views(memory, places, choices, _HISTORY, newest_atomics=lockstep)


def _write_buffers(
    memory: ByteMemory, places: list[Place], choices: Choices, lockstep: bool
) -> Memory:
    return WriteBuffers(memory, places, choices, is_shared)


_Maker = Callable[[ByteMemory, list[Place], Choices, bool], Memory]
#: Memory models of the executor besides the sequentially consistent one, by name.
MEMORY_MODELS: Mapping[str, _Maker] = {"views": _views, "write-buffers": _write_buffers}


@dataclass(frozen=True)
class WeakMemorySettings:
    """Memory model of a run.

    Parameters
    ----------
    make : callable
        Makes the model of a launch: from memory, the threads' places, choices, and whether the
        lanes of a warp are in lockstep.
    choices : Choices
        Takes the choices of all launches, those of the warp scheduler among them.
    fences : mapping of int to (Order, Scope) or None
        Other fences than the program's, by program counter; ``None`` leaves one out.
    inserted : mapping of int to (Order, Scope)
        Further fences, by program counter of the access that each comes before.
    accesses : mapping of int to Strength
        Other strength of strong accesses than the program's, by program counter.
    shared : sequence of collection of int
        Words of each launch that are known to be written in it and shared by threads: loads of
        them can be late before they are written, too.
    executions : list of Execution, optional
        Takes the execution of each launch, which takes time.
    """

    make: _Maker
    choices: Choices
    fences: Mapping[int, tuple[Order, Scope] | None] = field(default_factory=dict)
    inserted: Mapping[int, tuple[Order, Scope]] = field(default_factory=dict)
    accesses: Mapping[int, Strength] = field(default_factory=dict)
    shared: Sequence[Collection[int]] = ()
    executions: list[Execution] | None = None


class Origin(NamedTuple):
    """Who accesses memory, and where.

    Parameters
    ----------
    warp : Warp
        Who.
    access : Access
        The instruction.
    """

    warp: Warp
    access: Access

    def __str__(self) -> str:
        block, kind = self.warp.block, self.access.kind.name.lower()
        return (
            f"block {block.launch.block_position(block.index)} warp {self.warp.index}'s {kind} "
            f"at {self.access.place}"
        )


#: What a thread gives that arrives at a barrier, and its operation if the execution is kept.
Arrival = tuple[object, Operation | None]


class WeakMemory(ByteMemory):
    """Memory of one launch behind a model.

    Parameters
    ----------
    launch : Launch
        The launch.
    settings : WeakMemorySettings
        Its model.
    blocks, warps : int
        Blocks of the grid, and warps of each.
    lanes : bool
        Whether each lane is a thread of the model, not each warp.
    """

    def __init__(
        self, launch: Launch, settings: WeakMemorySettings, blocks: int, warps: int, lanes: bool
    ) -> None:
        self._launch, self._settings = launch, settings
        self._warps, self._lanes = warps, lanes
        width = WARP_SIZE if lanes else 1
        places = [
            Place(0, *launch.place_in_cluster(block), warp, lane)
            for block in range(blocks) for warp in range(warps) for lane in range(width)
        ]  # fmt: skip
        self.model = settings.make(self, places, settings.choices, not lanes)
        if settings.executions is not None:
            self.model.execution = Execution()
            settings.executions.append(self.model.execution)
        self._heap = launch.heap.views.raw.data
        #: Words that have been written, or will be; of others memory holds all there is.
        self.words: set[int] = set().union(*settings.shared[launch.number - 1 : launch.number])
        #: Whether a warp has done what others may wait for since its turn began.
        self.visible = False
        self._idle = 0
        self._patience = _PATIENCE * blocks * warps

    # The bytes

    def _raw(self, location: Location) -> tuple[memoryview, int]:
        block, offset = divmod(location.address, BLOCK_STRIDE)
        if not block:
            return self._heap, offset
        cluster = self._launch.cluster_of(block - 1)
        if cluster is None:
            # What is settled once its block has ended is never observed.
            return memoryview(bytearray(location.size)), 0
        return cluster.shared.raw.data, cluster.place(offset)

    def read(self, location: Location) -> int:
        raw, offset = self._raw(location)
        return int.from_bytes(raw[offset : offset + location.size], "little")

    def write(self, location: Location, number: int) -> None:
        raw, offset = self._raw(location)
        raw[offset : offset + location.size] = number.to_bytes(location.size, "little")
        self._idle = 0
        self._launch.progress = True

    # Accesses

    def begin(self, warp: Warp, mask: int, access: Access) -> int:
        """A warp begins an access: what comes before it, and the offset of its addresses."""
        self.model.origin = Origin(warp, access)
        self.visible = self.visible or bool(access.strong)
        inserted = self._settings.inserted.get(access.pc)
        if inserted is not None:
            for thread in self.threads(warp, mask):
                self.model.fence(thread, *inserted)
        return (access.block_of(warp) + 1) * BLOCK_STRIDE

    def touched(self, warp: Warp, mask: int, addresses: Sequence[int], size: int) -> None:
        """Lanes have read values not written yet."""
        choices = self._settings.choices
        if choices.keeps_touched or self.model.execution is not None:
            for lane, address in zip(lanes_of(mask), addresses, strict=True):
                thread = self.thread(warp, lane)
                choices.touched(thread, address, size, False)
                self.model.read_newest(thread, Location(address, size))

    def strength(self, access: Access) -> Strength:
        """How an access synchronises."""
        if not access.strong:
            return WEAK
        own = Strength(ORDERS.get(access.order, Order.RELAXED), SCOPES[access.scope])
        return self._settings.accesses.get(access.pc, own)

    def thread(self, warp: Warp, lane: int) -> int:
        """Thread of the model that a lane is."""
        number = warp.block.index * self._warps + warp.index
        return number * WARP_SIZE + lane if self._lanes else number

    def threads(self, warp: Warp, mask: int) -> Sequence[int]:
        """Threads of the model that some lanes are."""
        if not self._lanes:
            return (self.thread(warp, 0),)
        return [self.thread(warp, lane) for lane in lanes_of(mask)]

    # Synchronisation

    def fence(self, warp: Warp, mask: int, pc: int, scope: EventScope, order: MemoryOrder) -> None:
        """A fence by lanes."""
        self.visible = True
        own = ORDERS.get(order, Order.SC), SCOPES[scope]
        fence = self._settings.fences.get(pc, own)
        if fence is not None:
            for thread in self.threads(warp, mask):
                self.model.fence(thread, *fence)

    def arrive(self, warp: Warp, mask: int, releases: bool = True) -> list[Arrival]:
        """Lanes arrive at a barrier."""
        execution = self.model.execution
        arrive = self.model.arrive if releases else self.model.arrive_relaxed
        return [
            (arrive(thread), None if execution is None else execution.add(thread))
            for thread in self.threads(warp, mask)
        ]

    def leave(self, passing: Mapping[Warp, int], arrivals: Sequence[Arrival]) -> None:
        """Lanes of warps go on behind a barrier."""
        merged = self.model.merged([given for given, _ in arrivals if given is not None])
        threads = [thread for warp, mask in passing.items() for thread in self.threads(warp, mask)]
        for thread in threads:
            self.model.leave(thread, merged)
        if self.model.execution is not None:
            arrived = [operation for _, operation in arrivals if operation is not None]
            self.model.execution.meet(arrived, threads)

    def meet(self, warp: Warp, mask: int) -> None:
        """Lanes of a warp have come together at a barrier of their own."""
        if self._lanes:
            self.leave({warp: mask}, self.arrive(warp, mask))

    def end(self, warp: Warp, mask: int) -> None:
        """Lanes end."""
        if self._lanes or not warp.alive:
            for thread in self.threads(warp, mask):
                self.model.end(thread)

    def waits(self) -> None:
        """A warp has gone round a loop that polls memory; if nothing else has happened for long,
        what is held back is let out."""
        self._idle += 1
        if self._idle > self._patience:
            self._idle = 0
            self.model.drain()
