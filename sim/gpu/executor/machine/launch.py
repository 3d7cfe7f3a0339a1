"""Launch of a kernel: its blocks on the SMs, its warps in turn, until all have ended.

Blocks take slots in the order of their numbers, each on the SM with the fewest blocks that has
a block slot, warp slots in a row and shared memory left; a block that ends makes room for the
next.

Ref: ScoRD (ISCA'20) Sections II and V (Table V).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from ctypes import c_int64
from operator import add, floordiv, mod, mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racetrap.golden_model.events import ALL_LANES, WARP_SIZE, Geometry
from racetrap.sim.gpu.executor.machine.block_scheduler import BlockScheduler
from racetrap.sim.gpu.executor.machine.cluster import Cluster
from racetrap.sim.gpu.executor.machine.deadlock import deadlock_error
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.event_log import EventLog
from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.executor.machine.independent import IndependentWarp
from racetrap.sim.gpu.executor.machine.lane_moves import address_of
from racetrap.sim.gpu.executor.machine.limits import Limits
from racetrap.sim.gpu.executor.machine.lockstep import LockstepWarp
from racetrap.sim.gpu.executor.machine.memory import Heap, Views
from racetrap.sim.gpu.executor.machine.program import CompiledFunction, KernelProgram
from racetrap.sim.gpu.executor.machine.shapes import Shape, number_of, position
from racetrap.sim.gpu.executor.machine.sleepers import Sleepers
from racetrap.sim.gpu.executor.machine.special_registers import launch_rows, special_rows
from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
from racetrap.sim.gpu.executor.machine.warp import ENDED, NOT_RUN
from racetrap.sim.gpu.executor.machine.warp_schedulers import WarpScheduler
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemory, WeakMemorySettings

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Ticks for which warps may do nothing but wait for a clock: minutes, in cycles or nanoseconds.
_LONGEST_WAIT = 1 << 40
#: Warp instructions after which a launch reports and looks at its limits: a fraction of a second.
_REPORT_INTERVAL = 1 << 17
#: The same with a judge, which takes what they have logged: some megabytes.
_SETTLE_INTERVAL = 1 << 13
#: Threads of a weak memory, each of which has a view of its own.
_MOST_WEAK_THREADS = 1 << 20
#: Allocations by its threads of which a launch takes note.
_MOST_MADE = 1 << 10

#: Makes what a launch calls from time to time while it runs; left at its end.
Watch = Callable[["Launch"], AbstractContextManager[Callable[[], object]]]


@contextmanager
def unwatched(launch: Launch) -> Iterator[Callable[[], object]]:
    """The ``Watch`` of launches without an observer."""
    yield lambda: None


def _divided(shape: Shape, by: Shape) -> Shape:
    x, y, z = map(floordiv, shape, by)
    return x, y, z


class LaunchStats(NamedTuple):
    """Counts of a launch.

    Parameters
    ----------
    warp_instructions, thread_instructions : int
        Instructions run, counted once for a warp and once for each active lane.
    blocks : int
        Blocks that were placed.
    events : int
        Events logged.
    """

    warp_instructions: int
    thread_instructions: int
    blocks: int
    events: int


class Launch:
    """A running kernel.

    Parameters
    ----------
    program : KernelProgram
        The kernel.
    grid, block_shape : tuple of int
        Blocks of the grid and threads of a block, in three dimensions.
    cluster : tuple of int, optional
        Blocks of a cluster, in three dimensions, if clusters are asked for.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    parameters : numpy.ndarray
        Bytes of the kernel's parameters, a multiple of 16.
    parameter_size : int
        Their number without padding.
    symbols : list of numpy.ndarray
        Addresses of the module variables that the program needs.
    heap : Heap
        Global memory.
    geometry : Geometry
        Size of the GPU.
    schedule : WarpScheduler
        Chooses warps.
    log : EventLog
        Takes the events.
    independent_threads : bool
        Whether lanes are scheduled independently.
    limits : Limits
        When it is aborted.
    number : int
        Number of the launch on its device.
    grid_workspace : int
        Address of the memory with which the blocks of a cooperative launch, which are all
        resident at once, wait for each other; 0 for other launches.
    write : callable
        Receives what threads print.
    watch : Watch
        Observer of the running launch.
    outside : dict of int to str, optional
        Receives, by program counter, loads from outside all memory, which then get 0 and do not end
        the launch.
    memory : WeakMemorySettings, optional
        Memory model; without it memory is sequentially consistent.

    Raises
    ------
    ExecutionError
        If not even one block fits, or not all of a cluster or of a cooperative launch, or it has
        too many threads for a memory model.
    """

    def __init__(
        self, program: KernelProgram, grid: Shape, block_shape: Shape, cluster: Shape | None,
        dynamic_shared: int,
        parameters: np.ndarray, parameter_size: int, symbols: list[np.ndarray], heap: Heap,
        geometry: Geometry, schedule: WarpScheduler, log: EventLog, independent_threads: bool,
        limits: Limits, number: int, grid_workspace: int, write: Callable[[str], object],
        watch: Watch, outside: dict[int, str] | None = None,
        memory: WeakMemorySettings | None = None,
    ):  # fmt: skip
        self.program = program
        self.grid, self.block_shape = grid, block_shape
        self.cluster, self.has_clusters = cluster or (1, 1, 1), cluster is not None
        self._cluster_size = math.prod(self.cluster)
        #: Clusters of the grid, in three dimensions.
        self.clusters: Shape = _divided(grid, self.cluster)
        self.dynamic_shared = dynamic_shared
        self.shared_size = program.static_shared + dynamic_shared
        self.parameters, self.parameter_size = Views(parameters), parameter_size
        self.symbols, self.heap = symbols, heap
        self.heap_address, self.parameter_address = map(address_of, (heap.views.raw, parameters))
        self.geometry, self.schedule, self.log = geometry, schedule, log
        self.sleepers = Sleepers(schedule)
        self.number, self.grid_workspace = number, grid_workspace
        self.write, self._watch, self.outside = write, watch, outside
        #: Buffer that each memory instruction accessed last: address, and highest offset.
        self.bounds = (c_int64 * (2 * program.access_count))(*[0, -1] * program.access_count)
        #: Whether stores look for changed values, and whether there has been any progress.
        self.watching = self.progress = False
        #: What threads have allocated: address, bytes and program counter of the last.
        self.made: deque[tuple[int, int, int]] = deque(maxlen=_MOST_MADE)
        #: Whether a clock has been read.
        self.timed = False
        #: What the clocks show when the launch begins.
        self.started = 0
        self.blocks: list[ThreadBlock] = []
        #: Warp instructions so far.
        self.executed: int = 0
        self._thread_instructions = self._first_event = 0
        self._warp_class = IndependentWarp if independent_threads else LockstepWarp
        self._limits = limits
        self._next_wait = self._stalls_at = limits.stall
        self._waited = 0
        self._frames: dict[str, list[Frame]] = {}
        self._block_count = grid[0] * grid[1] * grid[2]
        self._next_block = self._open_elsewhere = 0
        self._age = 0
        self._block_scheduler = BlockScheduler(geometry, self.warps_per_block, self.shared_size)
        if self._cluster_size > self._block_scheduler.capacity:
            raise ExecutionError(
                f"Cluster has {self._cluster_size} blocks, but only "
                f"{self._block_scheduler.capacity} fit at once: make the cluster or its blocks "
                "smaller"
            )
        if grid_workspace and self._block_count > self._block_scheduler.capacity:
            raise ExecutionError(
                f"Cooperative launch has {self._block_count} blocks, but only "
                f"{self._block_scheduler.capacity} fit at once: make the grid smaller"
            )
        self.common_rows = launch_rows(self)
        #: What warps see, if memory is not sequentially consistent; the program goes with it.
        self.weak: WeakMemory | None = None
        if memory is not None:
            self._check_weak_threads(WARP_SIZE if independent_threads else 1)
            self.weak = WeakMemory(
                self, memory, self._block_count, self.warps_per_block, independent_threads
            )

    def _check_weak_threads(self, width: int) -> None:
        threads = self._block_count * self.warps_per_block * width
        if threads > _MOST_WEAK_THREADS:
            raise ExecutionError(
                f"Launch has {threads} threads, but a memory model takes at most "
                f"{_MOST_WEAK_THREADS}: make the grid smaller"
            )

    # Names and places

    @property
    def time(self) -> int:
        """What the clocks show: warp instructions, and the time for which all have waited."""
        return self.started + self.executed + self._waited

    @property
    def kernel_name(self) -> str:
        """Name of the kernel."""
        return self.program.kernel.name

    @property
    def block_count(self) -> int:
        """Blocks of the grid."""
        return self._block_count

    @property
    def stats(self) -> LaunchStats:
        """Counts so far."""
        return LaunchStats(
            self.executed, self._thread_instructions, self._next_block,
            self.log.count - self._first_event,
        )  # fmt: skip

    @property
    def ended_blocks(self) -> int:
        """Blocks that have ended."""
        return self._next_block - len(self.blocks) - self._open_elsewhere

    @property
    def unplaced(self) -> int:
        """Blocks that have not been placed yet."""
        return self._block_count - self._next_block

    @property
    def _threads(self) -> int:
        return self.block_shape[0] * self.block_shape[1] * self.block_shape[2]

    @property
    def warps_per_block(self) -> int:
        """Warps of a block."""
        return -(-self._threads // WARP_SIZE)

    @property
    def last_mask(self) -> int:
        """Lanes of a block's last warp that have a thread."""
        return ALL_LANES >> (-self._threads % WARP_SIZE)

    def block_position(self, index: int) -> Shape:
        """Position in the grid of a block."""
        return position(index, self.grid)

    def place_in_cluster(self, index: int) -> tuple[int, int]:
        """Number of the cluster of a block, and rank of the block in it."""
        at = self.block_position(index)
        cluster = number_of(list(map(floordiv, at, self.cluster)), self.clusters)
        return cluster, number_of(list(map(mod, at, self.cluster)), self.cluster)

    def thread_position(self, warp: int, lane: int) -> Shape:
        """Position in its block of a lane."""
        return position(warp * WARP_SIZE + lane, self.block_shape)

    def cluster_of(self, first: int) -> Cluster | None:
        """Cluster whose block of rank 0 has a number; nothing if all its blocks have ended."""
        clusters = (block.cluster for block in self.blocks)
        return next((cluster for cluster in clusters if cluster.first == first), None)

    def ran_elsewhere(self, begun: int, ended: int) -> None:
        """Take note how many blocks another machine than the executor has begun and ended."""
        self._next_block, self._open_elsewhere = begun, begun - ended

    # Frames

    def new_frame(self, function: CompiledFunction) -> Frame:
        """A frame of zeros for one call of a function."""
        pool = self._frames.get(function.name)
        if pool:
            frame = pool.pop()
            frame.clear()
        else:
            frame = function.make_frame()
        frame.function, frame.caller = function, None
        return frame

    def release_frame(self, frame: Frame) -> None:
        """Let a later call use a frame that no lane needs any more."""
        self._frames.setdefault(frame.function.name, []).append(frame)

    # Blocks

    def _place_blocks(self) -> None:
        while self._next_block < self._block_count:
            places = self._block_scheduler.take(self._cluster_size)
            if places is None:
                return
            members = self._members(self._next_block // self._cluster_size)
            cluster = Cluster(self, members[0], len(members), self.shared_size)
            for index, place in zip(members, places, strict=True):
                self._place(cluster, index, *place)
            self._next_block += len(members)

    def _members(self, cluster: int) -> list[int]:
        """Numbers of the blocks of a cluster, by rank."""
        if self._cluster_size == 1:
            return [cluster]
        first = list(map(mul, position(cluster, self.clusters), self.cluster))
        inside = (position(rank, self.cluster) for rank in range(self._cluster_size))
        return [number_of(list(map(add, first, each)), self.grid) for each in inside]

    def _place(self, cluster: Cluster, index: int, sm: int, slot: int, first_warp: int) -> None:
        block = ThreadBlock(cluster, index, sm, slot, self.shared_size)
        count, last_mask = self.warps_per_block, self.last_mask
        for number in range(count):
            mask = last_mask if number == count - 1 else ALL_LANES
            special = special_rows(self.program.specials, self, block, number, first_warp + number)
            warp: Warp = self._warp_class(block, number, first_warp + number, mask, special)
            warp.age, self._age = self._age, self._age + 1
            block.warps.append(warp)
        self.blocks.append(block)
        self.log.placed(block, first_warp, last_mask)
        for warp in block.warps:
            self.schedule.add(warp)

    def _warp_ended(self, warp: Warp) -> None:
        self.progress = True
        self.release_frame(warp.frame)
        block = warp.block
        if not block.has_ended:
            return
        self.log.retired(block)
        self.blocks.remove(block)
        self._block_scheduler.release(block.sm, block.slot, block.warps[0].number)
        self._place_blocks()

    # The run

    def run(self, stream: int = 0, call: int = 0) -> LaunchStats:
        """Run until all blocks have ended.

        Parameters
        ----------
        stream, call : int
            Stream, and program counter of the call that asked for it, for the log.

        Raises
        ------
        KernelFault
            If a thread does what it must not, or the launch cannot end.
        """
        self._first_event = self.log.count
        self.log.kernel_begin(stream, call)
        try:
            self._place_blocks()
            with np.errstate(all="ignore"), self._watch(self) as report:
                self._run_warps(report)
            if self.weak is not None:
                self.weak.model.drain()
            if self.blocks:
                raise deadlock_error(
                    self,
                    "stay in a livelock: every warp waits, or polls what none changes"
                    if self.sleepers
                    else "stay in a deadlock: every warp waits",
                )
        finally:
            # What ran before a fault is a whole trace, too.
            for block in self.blocks:
                self.log.retired(block)
            self.log.kernel_end()
        return self.stats

    def _run_warps(self, report: Callable[[], object]) -> None:
        after, executed, threads = self.schedule.after, 0, 0
        deadline, reported = self._deadline(), 0
        warp = self.schedule.first()
        try:
            while warp is not None:
                width = warp.width
                # The program counter is always that of a basic block.
                block, count = warp.table[warp.pc]  # type: ignore[misc]
                status = block(warp)
                if status is None or status != NOT_RUN:
                    # The clocks show it.
                    self.executed = executed = executed + count
                    threads += count * width
                    if status == ENDED:
                        self._warp_ended(warp)
                # It may look at what the turn has logged.
                warp = after(warp, status)
                if executed > deadline:
                    self._thread_instructions = threads
                    if executed - reported >= _REPORT_INTERVAL:
                        reported = executed
                        report()
                    self._check_limits()
                    self.log.settle()
                    deadline = self._deadline()
        finally:
            self._thread_instructions = threads

    def _deadline(self) -> float:
        """Warp instructions after which the limits are to be checked."""
        _, instructions, events = self._limits
        # An instruction makes an event or so, and few make more.
        room = math.inf if events is None else max(1, events - self.log.kept)
        interval = _SETTLE_INTERVAL if self.log.is_bounded else _REPORT_INTERVAL
        return min(
            self.executed + min(room, interval), self._stalls_at,
            math.inf if instructions is None else instructions,
        )  # fmt: skip

    def _check_limits(self) -> None:
        stall, instructions, events = self._limits
        if instructions is not None and self.executed > instructions:
            raise deadlock_error(
                self, f"go on for more than {instructions} warp instructions (instruction_limit)"
            )
        if events is not None and self.log.kept > events:
            raise deadlock_error(self, f"go on with more than {events} events (event_limit)")
        if self.executed > self._stalls_at:
            self._check_progress(stall)
            self._stalls_at = self.executed + stall

    def _check_progress(self, stall: int) -> None:
        """Watch for changes of memory first, then give up."""
        if self.progress:
            self.progress = self.watching = self.timed = False
            self._next_wait = stall
        elif not self.watching:
            self.watching, self.timed = True, False
        elif self.timed and self._next_wait < _LONGEST_WAIT:
            # Nothing but the time changes, so let it pass: the longer, the faster.
            self._waited += self._next_wait
            self._next_wait *= 2
            self.timed = False
        else:
            raise deadlock_error(self, f"stay in a livelock: no progress in {stall} instructions")
