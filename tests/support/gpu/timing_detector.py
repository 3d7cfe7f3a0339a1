"""A detector beside the timing model's GPU that does what it is told; cases computed by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, c_int, c_uint32, c_void_p, cast
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from racetrap.golden_model.events import EventKind, Scope, Space
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.timing.detector_ports import (
    DetectorInput,
    DetectorPorts,
    SliceCycle,
    SmCycle,
    TimedDetector,
)
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay, TimingCounts
from tests.support.gpu.timing_cases import CLOSED, PARAMS, dram, miss
from tests.support.oracle.programs import Program

_CYCLE = CFUNCTYPE(c_int, c_void_p, POINTER(SmCycle), POINTER(SliceCycle))
_L2 = 120
_WARP = (0, 0)
#: Every event that a detector of global memory is told.
_TOLD = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER,
         EventKind.BLOCK_PLACED)  # fmt: skip


@dataclass
class Scripted:
    """A detector of one metadata port.

    Parameters
    ----------
    refuses : int
        Cycles for which each transaction waits.
    holds : int
        Cycles for which each fence is in flight.
    reads, writes : sequence of int
        Addresses that it reads and writes, one each cycle from its first.
    fails : bool
        Whether its cycles fail.

    Attributes
    ----------
    now : int
        Cycles so far.
    taken : list of (int, int)
        SM, and kind of the event, of each transaction.
    read, written : list of (int, int)
        Cycle of each answer, and its id, or for writes their number.
    """

    refuses: int = 0
    holds: int = 0
    reads: Sequence[int] = ()
    writes: Sequence[int] = ()
    fails: bool = False
    now: int = 0
    taken: list[tuple[int, int]] = field(default_factory=list)
    read: list[tuple[int, int]] = field(default_factory=list)
    written: list[tuple[int, int]] = field(default_factory=list)
    launches: int = 0

    def __post_init__(self) -> None:
        self._waits, self._held = [0, 0], [{}, {}]
        self._function = _CYCLE(self._cycle)

    def launch(self) -> None:
        """Count the launch."""
        self.launches += 1

    def timed(self, told: DetectorInput) -> TimedDetector:
        """The detector beside a GPU of two SMs."""
        return TimedDetector(DetectorPorts(self._function, 0, 2, 1), self.launch, told, 8)

    def _cycle(self, state: Any, sms: Any, slices: Any) -> int:
        self.now += 1
        for sm in range(2):
            self._look(sm, sms[sm])
        self._use(slices[0])
        return not self.fails

    def _look(self, sm: int, port: SmCycle) -> None:
        held = self._held[sm] = {warp: left - 1 for warp, left in self._held[sm].items() if left}
        port.fencing = sum(1 << warp for warp in held)
        port.is_taken = 0
        if not port.transaction:
            return
        self._waits[sm] += 1
        if self._waits[sm] <= self.refuses:
            return
        self._waits[sm], port.is_taken = 0, 1
        kind, warp = cast(port.transaction, POINTER(c_uint32))[:2]
        self.taken.append((sm, kind))
        if kind == EventKind.FENCE and self.holds:
            held[warp] = self.holds

    def _use(self, port: SliceCycle) -> None:
        number = self.now - 1
        port.offers_read = number < len(self.reads)
        port.offers_address = port.offers_data = number < len(self.writes)
        if port.offers_read:
            port.read_address, port.read_id = self.reads[number], number
        if port.offers_address:
            port.write_address = self.writes[number]
        if port.answers_read:
            self.read.append((self.now, port.answered_id))
        if port.answers_write:
            self.written.append((self.now, len(self.written)))


def told_of(trace: Trace, has_shared: bool = False) -> DetectorInput:
    """Kind and warp of each event that is told: of accesses to shared memory only if so."""
    rows, first = [], [0]
    for event in trace:
        is_shared = event.kind <= EventKind.ATOMIC and event.space == Space.SHARED
        if event.kind in _TOLD and (has_shared or not is_shared):
            rows.append((event.kind, event.warp))
        first.append(len(rows))
    return DetectorInput(np.array(rows, np.uint32), np.array(first, np.uint64))


def run_beside(
    trace: Trace, detector: Scripted, params: TimingParams = PARAMS, has_shared: bool = False
) -> TimingCounts:
    """Result of a trace with a detector."""
    told = told_of(trace, has_shared)
    with Replay(trace, told=told) as replay:
        return replay.run(replace(params, detects=1, noc=0, lhd=0), detector.timed(told))


@dataclass(frozen=True)
class DetectorCase:
    """What is computed by hand of a trace with a detector.

    Parameters
    ----------
    write : callable
        Writes the program.
    detector : callable
        Makes the detector.
    counts : mapping of str to int
        Counts.
    seen : mapping of str to object
        What the detector has seen.
    """

    write: Callable[[Program], object]
    detector: Callable[[], Scripted]
    counts: Mapping[str, int]
    seen: Mapping[str, object] = field(default_factory=dict)

    def differences(self) -> list[str]:
        """What is not as computed."""
        program, detector = Program(1, 2), self.detector()
        self.write(program)
        counts = run_beside(program.trace, detector)
        found = {key: getattr(counts, key) for key in self.counts}
        found |= {key: getattr(detector, key) for key in self.seen}
        expected = {**self.counts, **self.seen}
        return [
            f"{key} must be {value}, not {found[key]}"
            for key, value in expected.items() if found[key] != value
        ]  # fmt: skip


def _load(program: Program) -> None:
    program.load(_WARP, 0)


def _fence(program: Program) -> None:
    program.fence(_WARP, Scope.DEVICE)


def _stores(program: Program) -> None:
    program.weak_store(_WARP, 0)
    program.weak_store(_WARP, 0x100)
    program.barrier(0)


#: What is told in a cycle is offered in the next; a block's begin is told in cycle 0, and so is the
#: first instruction of a warp.
DETECTOR_CASES: Mapping[str, DetectorCase] = {
    "a load is told": DetectorCase(
        _load, Scripted, {"cycles": miss(0), "transactions": 2, "detector_waits": 0},
        {"taken": [(0, EventKind.BLOCK_PLACED), (0, EventKind.LOAD)]}),
    # Each of the two waits for so long.
    "the load/store unit waits": DetectorCase(
        _load, lambda: Scripted(refuses=1000),
        {"cycles": 2 * 1001, "transactions": 2, "detector_waits": 2000}),
    "a fence is over when it is taken": DetectorCase(_fence, Scripted, {"cycles": 2 + 1 + 1}),
    "a fence waits for all banks": DetectorCase(
        _fence, lambda: Scripted(holds=100), {"cycles": 2 + 100 + 1 + 1}),
    "a store holds the next one": DetectorCase(
        _stores, lambda: Scripted(refuses=400),
        {"transactions": 4, "detector_waits": 1600, "cycles": 4 * 401},
        {"taken": [(0, EventKind.BLOCK_PLACED), (0, EventKind.STORE), (0, EventKind.STORE),
                   (0, EventKind.BARRIER)]}),
    "metadata are read through the L2": DetectorCase(
        lambda program: None, lambda: Scripted(reads=[0]),
        {"cycles": dram(2 + _L2, CLOSED) + 1, "metadata_reads": 1, "checks": 1, "data_reads": 0},
        {"read": [(dram(2 + _L2, CLOSED) + 1, 0)]}),
    # The second hits in the L2, behind the first's fill, and is answered in the next cycle.
    "reads of a line": DetectorCase(
        lambda program: None, lambda: Scripted(reads=[0, 64]), {"metadata_reads": 1},
        {"read": [(dram(2 + _L2, CLOSED) + 1, 0), (dram(2 + _L2, CLOSED) + 2, 1)]}),
    "metadata are written through the L2": DetectorCase(
        lambda program: None, lambda: Scripted(writes=[0]),
        {"metadata_writes": 1, "metadata_reads": 0, "cycles": 2 + _L2 + 1},
        {"written": [(2 + _L2 + 1, 0)]}),
    "writes are answered one a cycle": DetectorCase(
        lambda program: None, lambda: Scripted(writes=[0, 256]), {"metadata_writes": 2},
        {"written": [(2 + _L2 + 1, 0), (2 + _L2 + 2, 1)]}),
    "each kernel is a launch": DetectorCase(
        lambda program: (_load(program), program.next_kernel(), _load(program)), Scripted,
        {"transactions": 4}, {"launches": 2}),
}  # fmt: skip
