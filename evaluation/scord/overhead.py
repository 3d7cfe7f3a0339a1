"""Cost of ScoRD in time: replay of the applications on the timing model, with and without it.

Ref: ScoRD (ISCA'20) Section V, Figures 8 to 11.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from racetrap.evaluation.scord.overhead_forms import DetectorForms
from racetrap.golden_model.events import USUAL_GEOMETRY, DataRegion
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.event_log import Judge, Unlogged
from racetrap.sim.gpu.executor.machine.warp_schedulers import WarpScheduler
from racetrap.sim.gpu.timing.counts import TimingCounts
from racetrap.sim.gpu.timing.execution import Execution
from racetrap.sim.gpu.timing.instruction_counts import InstructionCounts
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay
from racetrap.sim.gpu.workloads.registry import WORKLOADS

#: Costs of the detector, as the paper names them.
COSTS = ("lhd", "noc", "md")
#: Memory by name: Table V's is the default one; the paper does not give the others' values.
MEMORIES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {"low": {"channels": 6}, "default": {}, "high": {"channels": 24}}
)
#: What else is varied, one at a time.
VARIATIONS: Mapping[str, Mapping[str, int]] = MappingProxyType({
    "as Table V": {},
    "segments of 128 bytes": {"segment_log2": 7},
    "flits of 32 bytes": {"flit_bytes": 32},
    "flits of 64 bytes": {"flit_bytes": 64},
    "injection queue of 2 packets": {"injection_packets": 2},
    "injection queue of 32 packets": {"injection_packets": 32},
    "metadata in flight is not merged": {"merges_in_flight": 0},
    "4 requests at most wait for a line": {"l2_merges": 4},
})  # fmt: skip

_NONE = TimingParams()
_BASE_DESIGN = replace(_NONE, detects=1)
_SCORD = replace(_BASE_DESIGN, ratio=16, shares_neighbours=1)


def _configurations() -> dict[str, TimingParams]:
    found = {
        "none": _NONE,
        "base design": _BASE_DESIGN,
        "ScoRD": _SCORD,
        "ScoRD, distant words": replace(_SCORD, shares_neighbours=0),
        **{f"ScoRD without {cost}": replace(_SCORD, **{cost: 0}) for cost in COSTS},
        "ScoRD without costs": replace(_SCORD, **dict.fromkeys(COSTS, 0)),
    }
    for name, values in {**MEMORIES, **VARIATIONS}.items():
        if values:
            found[f"none, {name}"] = replace(_NONE, **values)
            found[f"ScoRD, {name}"] = replace(_SCORD, **values)
    return found


#: What each application is replayed under.
CONFIGURATIONS: Mapping[str, TimingParams] = MappingProxyType(_configurations())
#: Those under which it is also executed in simulated time.
EXECUTED = ("none", "base design", "ScoRD", "ScoRD, distant words")
#: In so many schedules, which differ in how late each block begins; fewer for long inputs.
SCHEDULES = 5
_FEWER_SCHEDULES = {"paper": 1}


@dataclass(frozen=True)
class OverheadRun:
    """An application to be run; plain data, for a worker process.

    Parameters
    ----------
    program : str
        Name of the application.
    size : str
        Size of its input.
    seed : int
        Seed of its input.
    has_hardware : bool
        Whether the Verilated hardware runs, too.
    """

    program: str
    size: str
    seed: int
    has_hardware: bool = False


@dataclass(frozen=True)
class Overhead:
    """Result of an application.

    Parameters
    ----------
    program : str
        Its name.
    events : int
        Events of its trace.
    counts : mapping of str to TimingCounts
        Cycles and traffic of each configuration.
    seconds, all_seconds : float
        CPU time of these replays, and of all work on the application.
    executed : mapping of str to sequence of TimingCounts
        Cycles and traffic of the configurations under which it is executed in simulated time, in
        each schedule.
    models, hardware : mapping of str to TimingCounts
        Those of replays with each model of the hardware's cycles, and with the hardware of presets.
    """

    program: str
    events: int
    counts: Mapping[str, TimingCounts]
    seconds: float
    all_seconds: float
    executed: Mapping[str, Sequence[TimingCounts]]
    models: Mapping[str, TimingCounts] = field(default_factory=dict)
    hardware: Mapping[str, TimingCounts] = field(default_factory=dict)

    def slowdown_of(self, forms: Mapping[str, TimingCounts], name: str) -> float:
        """Cycles with a model or hardware for each without detection."""
        return forms[name].cycles / self.counts["none"].cycles

    def slowdowns_executed(self, name: str = "ScoRD") -> list[float]:
        """Cycles of a configuration for each without detection in the same schedule, executed in
        simulated time."""
        both = zip(self.executed[name], self.executed["none"], strict=True)
        return [counts.cycles / without.cycles for counts, without in both]

    def slowdown(self, name: str = "ScoRD", beside: str = "none") -> float:
        """Cycles of a configuration for each of another one."""
        return self.counts[name].cycles / self.counts[beside].cycles

    def slowdown_with(self, change: str) -> float:
        """ScoRD's cycles for each without detection, under one of the changes."""
        return self.slowdown(f"ScoRD, {change}", f"none, {change}")

    def traffic(self, name: str) -> tuple[float, float]:
        """DRAM accesses to data and to metadata, for each access without detection."""
        counts, all_of_none = self.counts[name], self.counts["none"].dram_accesses
        return (
            (counts.data_reads + counts.data_writes) / all_of_none,
            (counts.metadata_reads + counts.metadata_writes) / all_of_none,
        )

    def shares(self) -> dict[str, float]:
        """Of each cost, the share in what is saved without one of them, in percent; all 0 if
        nothing is."""
        with_all = self.counts["ScoRD"].cycles
        saved = {
            cost: max(0, with_all - self.counts[f"ScoRD without {cost}"].cycles) for cost in COSTS
        }
        total = sum(saved.values()) or 1
        return {cost: 100 * cycles / total for cost, cycles in saved.items()}


@dataclass(frozen=True)
class Replayed:
    """Result of the replays of an application.

    Parameters
    ----------
    found : Overhead
        All but its executions.
    region : DataRegion
        Smallest region that holds all data: a fraction of it then has conflicts.
    """

    found: Overhead
    region: DataRegion


@dataclass(frozen=True)
class ExecutionRun:
    """An application to be executed in simulated time; plain data, for a worker process.

    Parameters
    ----------
    run : OverheadRun
        The application.
    configuration : str
        One of ``EXECUTED``.
    schedule : int
        How late each block begins.
    region : DataRegion
        Region whose words have metadata.
    """

    run: OverheadRun
    configuration: str
    schedule: int
    region: DataRegion


@dataclass(frozen=True)
class Executed:
    """Result of an execution.

    Parameters
    ----------
    counts : TimingCounts
        Cycles and traffic.
    seconds : float
        CPU time.
    """

    counts: TimingCounts
    seconds: float


def replay(run: OverheadRun) -> Replayed:
    """Run an application once and replay its trace under all configurations."""
    began, instructions = time.process_time(), InstructionCounts()
    device = _play(run, instructions.watch)
    trace = instructions.trace(device.trace(f"{run.program} {run.size}", region_log2=0))
    counts: dict[str, TimingCounts] = {}
    started = time.process_time()
    for segment_log2 in sorted({each.segment_log2 for each in CONFIGURATIONS.values()}):
        with Replay(trace, segment_log2) as replayed:
            counts |= {
                name: replayed.run(params)
                for name, params in CONFIGURATIONS.items()
                if params.segment_log2 == segment_log2
            }
    seconds = time.process_time() - started
    forms = DetectorForms(trace, CONFIGURATIONS["ScoRD, distant words"])
    hardware = forms.hardware() if run.has_hardware else {}
    models, all_seconds = forms.models(), time.process_time() - began
    found = Overhead(run.program, len(trace), counts, seconds, all_seconds, {}, models, hardware)
    return Replayed(found, trace.header.region)


def executions(run: OverheadRun, region: DataRegion) -> list[ExecutionRun]:
    """Executions of an application in simulated time."""
    schedules = range(_FEWER_SCHEDULES.get(run.size, SCHEDULES))
    return [ExecutionRun(run, name, each, region) for name in EXECUTED for each in schedules]


def execute(item: ExecutionRun) -> Executed:
    """Execute an application in simulated time; nothing of the run is kept."""
    began = time.process_time()
    params = replace(CONFIGURATIONS[item.configuration], schedule=item.schedule)
    with Execution(params, item.region) as execution:
        _play(item.run, execution.watch, Unlogged)
        return Executed(execution.counts, time.process_time() - began)


def overhead(run: OverheadRun, replayed: Replayed, executed: Sequence[Executed]) -> Overhead:
    """All of an application; ``executed`` has the results of its `executions`."""
    counts: dict[str, list[TimingCounts]] = {name: [] for name in EXECUTED}
    for item, one in zip(executions(run, replayed.region), executed, strict=True):
        counts[item.configuration].append(one.counts)
    seconds = replayed.found.all_seconds + sum(one.seconds for one in executed)
    return replace(replayed.found, executed=counts, all_seconds=seconds)


def _play(
    run: OverheadRun, wrap: Callable[[WarpScheduler], WarpScheduler],
    make_judge: Callable[[], Judge] | None = None,
) -> Device:  # fmt: skip
    """Run an application whose warps take turns as ``wrap`` says."""
    device = Device(
        USUAL_GEOMETRY, scheduler="greedy-then-oldest", seed=run.seed, wrap=wrap,
        make_judge=make_judge,
    )  # fmt: skip
    WORKLOADS[run.program].run(device, run.size, run.seed)
    return device
