"""Kernels executed in simulated time: the timing model says which warp is next, and when.

What a warp reads is what memory holds when its instruction before has ended, so that a warp which
waits for another one polls as often as it has time to.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from racetrap.golden_model.events import DataRegion
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE
from racetrap.sim.gpu.executor.machine.warp import BLOCKED, ENDED
from racetrap.sim.gpu.executor.machine.warp_schedulers import WarpScheduler
from racetrap.sim.gpu.timing.counts import TimingCounts
from racetrap.sim.gpu.timing.instruction_counts import InstructionCounts
from racetrap.sim.gpu.timing.library import (
    NONE,
    counts_of,
    no_counts,
    settings_of,
    timing_library,
)
from racetrap.sim.gpu.timing.params import TimingParams

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Turns in a row without an access of global memory, after which time passes: a warp may wait for
#: others in shared memory.
_MOST_SILENT = 1 << 10


class Execution:
    """Launches of a device, whose ``wrap`` is ``watch``, on the timing model.

    Parameters
    ----------
    params : TimingParams
        GPU, and what a detector costs the network; the detector has no time of its own.
    region : DataRegion
        Region whose words have metadata.

    Attributes
    ----------
    instructions : InstructionCounts
        Counts for the device's trace.  A replay of the trace with them, under the same parameters,
        takes the same cycles.

    Raises
    ------
    Failure
        If the library cannot be compiled.
    """

    def __init__(self, params: TimingParams, region: DataRegion) -> None:
        self.instructions = InstructionCounts()
        self._library, self._counts = timing_library(), no_counts()
        settings = settings_of(params, region)
        self._execution = self._library.racetrap_execution_new(settings.ctypes.data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._library.racetrap_execution_delete(self._execution)

    @property
    def counts(self) -> TimingCounts:
        """Cycles and traffic of all kernels that have ended."""
        return counts_of(self._counts)

    def watch(self, scheduler: WarpScheduler) -> WarpScheduler:
        """A scheduler of a launch, instead of the device's own."""
        return self.instructions.watch(_Timed(self))

    # Called by the scheduler of a launch

    def begin(self) -> None:
        """Begin a kernel."""
        self._library.racetrap_execution_begin(self._execution)

    def place(self, sm: int, slot: int, warps: int) -> None:
        """Place a block; its warps get the next numbers."""
        self._library.racetrap_execution_place(self._execution, sm, slot, warps)

    def follow(self, warp: int, events: bytes, lanes: bytes) -> bool:
        """Take a turn's events; whether they have an instruction."""
        rows = len(events) // EVENT_DTYPE.itemsize
        return bool(self._library.racetrap_execution_follow(
            self._execution, warp, events, rows, lanes, max(0, self.instructions.latest - 1)
        ))  # fmt: skip

    def wait(self, warp: int) -> None:
        """Let a warp wait for the others of its block."""
        self._library.racetrap_execution_wait(self._execution, warp)

    def pause(self, warp: int, instructions: int) -> None:
        """Let a warp run instructions that access no memory."""
        self._library.racetrap_execution_pause(self._execution, warp, instructions)

    def next(self, is_given: bool) -> int | None:
        """The warp that wants an instruction first; ``None`` if the kernel has ended.

        Parameters
        ----------
        is_given : bool
            Whether the one before has an instruction now, or has ended.

        Raises
        ------
        RuntimeError
            If a warp waits for ever, or a packet is left.
        """
        warp: int = self._library.racetrap_execution_next(self._execution, is_given)
        if warp != NONE:
            return warp
        if not self._library.racetrap_execution_end(self._execution, self._counts.ctypes.data):
            raise RuntimeError("Kernel must come to its end: a warp waits, or a packet is left")
        return None


class _Timed(WarpScheduler):
    """The scheduler of a launch: warps run when they can issue their next instruction."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._warps: list[Warp] = []
        self._seen = self._silent = 0

    def add(self, warp: Warp) -> None:
        # Others wait for time to pass, in the model.
        if warp.age < len(self._warps):
            return
        if not self._warps:
            self._execution.begin()
        block = warp.block
        self._warps += block.warps
        self._execution.place(block.sm, block.slot, len(block.warps))

    def first(self) -> Warp | None:
        if self._warps:
            self._seen = self._warps[0].log.count
        return self._next(False)

    def _next(self, is_given: bool) -> Warp | None:
        number = self._execution.next(is_given)
        return None if number is None else self._warps[number]

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        return self._next(True) if self._has_moved(warp, status) else warp

    def _has_moved(self, warp: Warp, status: int | None) -> bool:
        """Whether the warp's turn has an instruction, or has been its last."""
        log, new = warp.log, self._seen
        self._seen, self._silent = log.count, self._silent + 1
        has_moved = status == ENDED
        if log.count > new:
            has_moved |= self._execution.follow(warp.age, *log.since(new))
        if status == BLOCKED:
            if warp in warp.launch.sleepers:
                # It polls on, in its own time.
                warp.launch.sleepers.wake(warp)
            else:
                self._execution.wait(warp.age)
                has_moved = True
        if self._silent == _MOST_SILENT and not has_moved:
            self._execution.pause(warp.age, _MOST_SILENT)
            has_moved = True
        if has_moved:
            self._silent = 0
        return has_moved
