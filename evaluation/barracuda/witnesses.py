"""Witnesses of races in small kernels: what runs show without an analysis of order.

A kernel has a race if one of its runs shows a witness:

* *both ready*: two threads of different warps were both about to access common bytes, so either
  access could have been the first.  They are not two atomics whose scopes include the other thread,
  nor two volatile accesses to a word that a thread polls, as it does a flag;
* *both sides*: the two sides of a branch access common bytes, not both by atomics, in an order that
  is not defined;
* *one instruction*: lanes of one store write different values to common bytes;
* *barrier*: lanes of a warp wait at a barrier of the block while others of it are in the other
  side of a branch;
* *weak memory*: the kernel leaves a memory that it leaves in no sequentially consistent schedule,
  although each outcome of these was seen at least twice.

A witness proves the race; a kernel without one may have a race that no run has shown.

Ref: BARRACUDA (PLDI'17) Sections 3.1, 3.3.1 and 6.1; PTX ISA 9.0, Section 8.7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

from racetrap.golden_model.events import (
    ACCESS_KINDS,
    ALL_LANES,
    BLOCK_BARRIERS,
    Event,
    EventKind,
    MemoryOrder,
    Scope,
    Space,
)
from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from racetrap.sim.gpu.suites.concurrency.cases import Case
from racetrap.sim.gpu.suites.concurrency.runner import GEOMETRY, SCHEDULES, run_case

#: Kinds of witness, in the order of the text above.
WITNESSES = BOTH_READY, BOTH_SIDES, ONE_INSTRUCTION, BARRIER, WEAK_MEMORY = (
    "both ready", "both sides", "one instruction", "barrier", "weak memory"
)  # fmt: skip

#: Warp instructions after which a run on weak memory counts as one without an outcome.
_MOST_INSTRUCTIONS = 20_000

#: Where a warp runs: SM and warp slot.
_Warp = tuple[int, int]
#: A byte of memory: its address, and its block if it is shared.
_Byte = tuple[int, int]


@dataclass
class _Branch:
    """A branch that has not reconverged: accesses of its sides, and the lanes that wait."""

    waiting: int
    first: list[Event] = field(default_factory=list)
    now: list[Event] = field(default_factory=list)


@dataclass
class _State:
    """A warp: its block, its last event with its number, and its open branches."""

    block: int
    active: int = ALL_LANES
    number: int = -1
    last: Event | None = None
    branches: list[_Branch] = field(default_factory=list)


class _Run:
    """A run in lockstep, event by event.

    Attributes
    ----------
    found : set of str
        Kinds of witness seen.
    polled : set of _Byte
        Bytes that a warp accessed twice in a row by one instruction.
    volatile : list of set of _Byte
        Bytes of each pair of volatile accesses that were both ready.
    """

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.polled: set[_Byte] = set()
        self.volatile: list[set[_Byte]] = []
        self._warps: dict[_Warp, _State] = {}
        self._slots: dict[tuple[int, int], list[_Warp]] = {}
        self._accesses: list[tuple[int, _State, Event]] = []

    def add(self, number: int, event: Event) -> None:
        """Take the next event."""
        if event.kind == EventKind.BLOCK_PLACED:
            placed = [(event.sm, event.warp + each) for each in range(event.warp_count)]
            self._slots[event.sm, event.slot] = placed
            self._warps |= {each: _State(event.grid_block) for each in placed}
        elif event.kind == EventKind.KERNEL_BEGIN:
            self._warps.clear()
            self._accesses.clear()
        elif event.kind in BLOCK_BARRIERS:
            for each in self._slots[event.sm, event.slot]:
                self._barrier(self._warps[each], number, event)
        elif own := self._warps.get((event.sm, event.warp)):
            if event.kind in ACCESS_KINDS:
                self._access(own, number, event)
            else:
                self._branch(own, event)
            own.number, own.last = number, event

    def _barrier(self, own: _State, number: int, event: Event) -> None:
        own.number, own.last = number, event
        if [branch for branch in own.branches if branch.waiting]:
            self.found.add(BARRIER)

    def _access(self, own: _State, number: int, event: Event) -> None:
        if event.kind == EventKind.STORE and _differ(event):
            self.found.add(ONE_INSTRUCTION)
        for branch in own.branches:
            branch.now.append(event)
        last = own.last
        if last and (last.kind, last.pc, last.lanes) == (event.kind, event.pc, event.lanes):
            self.polled |= _touched(event, own.block).keys()
        # This access could have come before all that others have done since this warp's last event.
        for other_number, other, earlier in reversed(self._accesses):
            if other_number <= own.number:
                break
            if other is not own:
                self._both_ready(other, earlier, own, event)
        self._accesses.append((number, own, event))

    def _both_ready(self, other: _State, first: Event, own: _State, second: Event) -> None:
        if first.kind == second.kind == EventKind.LOAD:
            return
        a, b = _touched(first, other.block), _touched(second, own.block)
        common = a.keys() & b.keys()
        if not common:
            return
        reaches = other.block == own.block or first.scope == second.scope == Scope.DEVICE
        exempt = first.strong and second.strong and reaches and first.size == second.size
        if not exempt or [each for each in common if a[each] != b[each]]:
            self.found.add(BOTH_READY)
        elif MemoryOrder.IMPLIED in {
            each.order for each in (first, second) if each.kind != EventKind.ATOMIC
        }:
            self.volatile.append(common)

    def _branch(self, own: _State, event: Event) -> None:
        if event.kind == EventKind.IF:
            own.branches.append(_Branch(own.active & ~event.mask))
            own.active &= event.mask
        elif event.kind == EventKind.ELSE:
            branch = own.branches[-1]
            branch.first, branch.now = branch.now, []
            own.active, branch.waiting = event.mask, own.active
        elif event.kind == EventKind.FI:
            branch, own.active = own.branches.pop(), event.mask
            if _sides_conflict(branch, own.block):
                self.found.add(BOTH_SIDES)
        elif event.kind == EventKind.EXIT:
            for branch in own.branches:
                branch.waiting &= ~event.mask


def _sides_conflict(branch: _Branch, block: int) -> bool:
    for first, second in product(branch.first, branch.now):
        kinds = {first.kind, second.kind}
        if kinds in ({EventKind.LOAD}, {EventKind.ATOMIC}):
            continue
        if _touched(first, block).keys() & _touched(second, block).keys():
            return True
    return False


def run_witnesses(runs: Iterable[Iterable[Event]]) -> set[str]:
    """Kinds of witness in runs of one kernel in lockstep."""
    found: set[str] = set()
    polled: set[_Byte] = set()
    volatile: list[set[_Byte]] = []
    for events in runs:
        run = _Run()
        for number, event in enumerate(events):
            run.add(number, event)
        found |= run.found
        polled |= run.polled
        volatile += run.volatile
    if [common for common in volatile if not common <= polled]:
        found.add(BOTH_READY)
    return found


def _touched(event: Event, block: int) -> dict[_Byte, int]:
    """First byte of the lane's access by each byte that an event touches."""
    own = block if event.space == Space.SHARED else -1
    return {
        (lane.address + each, own): lane.address
        for lane in event.lanes for each in range(event.size)
    }  # fmt: skip


def _differ(event: Event) -> bool:
    """Whether lanes of one store write different values to a common byte."""
    values: dict[int, int] = {}
    for lane in event.lanes:
        for each in range(event.size):
            value = lane.value >> (8 * each) & 0xFF
            if values.setdefault(lane.address + each, value) != value:
                return True
    return False


@dataclass(frozen=True)
class WitnessRun:
    """A small kernel to be run; plain data, for a worker process.

    Parameters
    ----------
    case : Case
        The kernel.
    schedules : int
        Further random schedules beside those of the suite.
    weak : int
        Runs on each weak memory.
    seed : int
        First seed.
    """

    case: Case
    schedules: int
    weak: int
    seed: int


def find_witnesses(run: WitnessRun) -> tuple[str, ...]:
    """Kinds of witness that a kernel's runs show, in the order of ``WITNESSES``."""
    outcomes, traces = Counter[tuple[bytes, ...]](), []
    more = [("random", run.seed + len(SCHEDULES) + each) for each in range(run.schedules)]
    for scheduler, seed in (*SCHEDULES, *more):
        device = Device(GEOMETRY, scheduler=scheduler, seed=seed)
        outcomes[run_case(run.case, device)] += 1
        traces.append(device.trace(run.case.name))
    found = run_witnesses(traces)
    if min(outcomes.values()) > 1 and _has_weak_outcome(run, outcomes):
        found.add(WEAK_MEMORY)
    return tuple(kind for kind in WITNESSES if kind in found)


def _has_weak_outcome(run: WitnessRun, right: Collection[tuple[bytes, ...]]) -> bool:
    for memory in MEMORY_MODELS:
        for seed in range(run.seed, run.seed + run.weak):
            settings = settings_of(memory, RandomChoices(seed, random_rates(seed)))
            device = Device(GEOMETRY, memory=settings, instruction_limit=_MOST_INSTRUCTIONS)
            # A thread may wait for ever for what weak memory need not show it.
            with suppress(ExecutionError):
                if run_case(run.case, device) not in right:
                    return True
    return False
