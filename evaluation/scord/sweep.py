"""Detection quality of ScoRD: the golden model against verdicts and the scope-aware oracle.

A micro-benchmark has its own verdict.  In other programs a race is a pair of
instructions that the oracle finds in the run, missed if ScoRD reports it at none of its
instances; a false report is a (program counter, kind) pair at an instruction without any race.

Ref: ScoRD (ISCA'20) Section V-A, Tables VI and VII.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from racetrap.evaluation.scord.programs import Build, Schedule, applications, trace_of
from racetrap.evaluation.sweep.gpu_quality import concurrency_traces, gpu_quality
from racetrap.evaluation.sweep.quality import Quality, Swept, counted
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.cosim.scord.suite import SuiteRun, suite_runs
from racetrap.sim.failure import DoesNotFit
from racetrap.sim.gpu.oracle import PAPER_RULE
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import VARIABLES, program_region
from racetrap.sim.gpu.suites.micro.scheduler import BlockPlacement

#: Groups of programs; an application is also one by its own name.
_SUITES = ("micro-benchmarks", "concurrency-suite", "applications")

#: Fixed schedulers of the executor come first in the schedules of an application.
_FIXED = 3
#: Traces are the same at every point; a process keeps them.
_KEPT_TRACES = 1024


def scord_quality(params: ScordParams, spec: QualitySpec) -> Quality:
    """Detection quality of the golden model on the workloads.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    spec : QualitySpec
        Workloads and schedules.

    Raises
    ------
    DoesNotFit
        If a workload does not fit the configuration.
    """
    total = Quality()
    for workload in spec.workloads:
        if workload == "micro-benchmarks":
            total += _micro_benchmarks(params, spec)
            continue
        for trace in traces_of(workload, spec):
            total += gpu_quality(trace, params, PAPER_RULE)
    return total


def _micro_benchmarks(params: ScordParams, spec: QualitySpec) -> Quality:
    try:
        program_region().check(params)
        runs = list(suite_runs(params, spec.schedules, spec.seed))
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    placed = {(run.benchmark.name, run.placement) for run in runs}
    if len(placed) < (every := len(MICRO_BENCHMARKS) * len(BlockPlacement)):
        # Points that left runs out would not be compared on the same ones.
        raise DoesNotFit(
            "Parameters sm_count, blocks_per_sm and warps_per_sm leave no room "
            f"for {every - len(placed)} of the {every} placements of the micro-benchmarks"
        )
    return sum((_verdict(run, params) for run in runs), start=Quality())


def _verdict(run: SuiteRun, params: ScordParams) -> Quality:
    scord = Scord(params, program_region())
    for event in run.events():
        scord.run(event)
    benchmark = run.benchmark
    caught = any(race.address == VARIABLES["data"] for race in scord.races)
    wrong = sum(race.race not in benchmark.kinds for race in scord.unique.values())
    return Quality(1, int(benchmark.racy), int(benchmark.racy and not caught), wrong)


def traces_of(workload: str, spec: QualitySpec) -> Iterator[Trace]:
    """Runs of a workload other than the micro-benchmarks, in the schedules of a specification."""
    if workload == "concurrency-suite":
        yield from concurrency_traces(spec)
        return
    for build in applications(all_together=False):
        if workload in ("applications", build.program):
            for number in range(spec.schedules):
                schedule = Schedule(_FIXED + number, spec.seed)
                yield _build_trace(build, spec.size, schedule, spec.seed, spec.region_log2)


@lru_cache(_KEPT_TRACES)
def _build_trace(build: Build, size: str, schedule: Schedule, seed: int, region_log2: int) -> Trace:
    return trace_of(build, size, schedule, seed, region_log2)


#: Groups of programs, and each application.
WORKLOADS = (*_SUITES, *dict.fromkeys(build.program for build in applications()))

SWEPT = Swept(
    workloads=WORKLOADS,
    sizes=("tiny", "small", "paper"),
    figures=counted(scord_quality),
    aliases={
        "lanes": "sm_count",  # streams of transactions, each with a tracker of its own
        "lock_depth": "lock_table_depth",
        "fence_id_width": "fence_id_bits",
        "barrier_id_width": "barrier_id_bits",
    },
)
