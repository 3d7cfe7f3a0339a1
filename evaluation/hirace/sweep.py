"""Detection quality of HiRace: the golden model against the exact oracle.

A micro-benchmark has its own verdict.  In the programs of the concurrency suite a race is a pair of
instructions that the oracle finds in the run, missed if HiRace reports it at none of its instances;
a false report is a (program counter, kind) pair at an instruction without any race.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.evaluation.sweep.gpu_quality import concurrency_traces, gpu_quality
from racetrap.evaluation.sweep.quality import Quality, Swept, counted
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.failure import DoesNotFit
from racetrap.sim.gpu.oracle import JUDGE
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.verdict.gpu.fit import around


def hirace_quality(params: HiraceParams, spec: QualitySpec) -> Quality:
    """Detection quality of the golden model on the workloads.

    Parameters
    ----------
    params : HiraceParams
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
        for trace in concurrency_traces(spec):
            total += gpu_quality(trace, params, JUDGE)
    return total


def _micro_benchmarks(params: HiraceParams, spec: QualitySpec) -> Quality:
    total = Quality()
    try:
        region = around(program_region(), params)
        region.check(params)
        runs = list(suite_runs(params, spec.schedules, spec.seed))
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    for run in runs:
        hirace = Hirace(params, region, keep_races=False)
        for event in run.events():
            hirace.run(event)
        racy, found = run.benchmark.racy, len(hirace.unique)
        total += Quality(1, int(racy), int(racy and not found), 0 if racy else found)
    return total


SWEPT = Swept(
    workloads=("micro-benchmarks", "concurrency-suite"),
    sizes=("tiny",),
    figures=counted(hirace_quality),
    aliases={
        "lanes": "sm_count",  # streams of transactions, each with a tracker of its own
        "queue_depth": "report_fifo_depth",
    },
    absent=("region_log2",),
)
