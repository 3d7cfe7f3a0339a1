"""Programs of the evaluation: the applications and micro-benchmarks of ScoR, build by build.

A build is a program with its race switches set.  Running it gives a trace.

Ref: ScoRD (ISCA'20) Section III-B, Tables I and II.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.evaluation.scord.paper import MICRO_BENCHMARKS_ROW
from racetrap.golden_model.events import USUAL_GEOMETRY, DataRegion, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import BlockPlacement, random_schedule, run_program
from racetrap.sim.gpu.workloads.registry import WORKLOADS

_SCHEDULERS = ("round-robin", "greedy-then-oldest", "in-order")


@dataclass(frozen=True)
class Build:
    """A program with its race switches set.

    Parameters
    ----------
    row : str
        Row of the tables that it counts in.
    program : str
        Name of the program.
    switches : frozenset of str
        Switches that are on; empty for the race-free build.
    """

    row: str
    program: str
    switches: frozenset[str] = frozenset()

    @property
    def racy(self) -> bool:
        """Whether a race is expected."""
        if self.row == MICRO_BENCHMARKS_ROW:
            return MICRO_BENCHMARKS[self.program].racy
        return bool(self.switches)

    @property
    def name(self) -> str:
        """Program and switches for display."""
        return f"{self.program} ({self.label})" if self.row == self.program else self.program

    @property
    def label(self) -> str:
        """The switches for display."""
        return ", ".join(sorted(self.switches)) or "race-free"


@dataclass(frozen=True)
class Schedule:
    """One way to schedule a run.

    Parameters
    ----------
    number : int
        Number of the schedule: first each fixed scheduler of the executor, then random ones.
    seed : int
        Seed of all schedules.
    """

    number: int
    seed: int

    @property
    def scheduler(self) -> str:
        """Warp scheduler of the executor."""
        return _SCHEDULERS[self.number] if self.number < len(_SCHEDULERS) else "random"

    @property
    def own_seed(self) -> int:
        """Seed of this schedule alone."""
        return self.seed * 1_000_003 + self.number


def applications(all_together: bool = True) -> Iterator[Build]:
    """Every application: race-free, each switch alone, and all of them together."""
    for name, workload in WORKLOADS.items():
        yield Build(name, name)
        for switch in workload.switches:
            yield Build(name, name, frozenset({switch.name}))
        if all_together and len(workload.switches) > 1:
            yield Build(name, name, frozenset(switch.name for switch in workload.switches))


def micro_benchmarks() -> Iterator[Build]:
    """Every micro-benchmark."""
    for name in MICRO_BENCHMARKS:
        yield Build(MICRO_BENCHMARKS_ROW, name)


def trace_of(build: Build, size: str, schedule: Schedule, seed: int, region_log2: int) -> Trace:
    """Run a build and return its trace.

    Parameters
    ----------
    build : Build
        What to run.
    size : str
        Size of an application's input.
    schedule : Schedule
        How to schedule it.
    seed : int
        Seed of an application's input.
    region_log2 : int
        Log2 of the bytes monitored at least (applications).

    Raises
    ------
    ExecutionError
        If the program fails.
    ResultError
        If a race-free application gives a wrong result.
    """
    if build.row != MICRO_BENCHMARKS_ROW:
        device = Device(USUAL_GEOMETRY, scheduler=schedule.scheduler, seed=schedule.own_seed)
        WORKLOADS[build.program].run(device, size, seed, build.switches)
        return device.trace(f"{build.program} {size}, {build.label}", region_log2)
    benchmark = MICRO_BENCHMARKS[build.program]
    placement = list(BlockPlacement)[schedule.number % len(BlockPlacement)]
    events = run_program(benchmark, random_schedule(schedule.own_seed), placement)
    region = program_region()
    header = TraceHeader(
        geometry=USUAL_GEOMETRY,
        region=DataRegion(region.data_base, region.size_log2),
        source=build.program,
        seed=schedule.own_seed,
    )
    return Trace.from_events(header, events)
