"""Detection quality of HiRace: the golden model against the exact oracle.

A micro-benchmark has its own verdict.  In the programs of the concurrency suite a race is a pair of
instructions that the oracle finds in the run, missed if HiRace reports it at none of its instances;
a false report is a (program counter, kind) pair at an instruction without any race.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from racetrap.evaluation.sweep.quality import Quality, Swept
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.fpga.flow.fit import DoesNotFit
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.verdict.gpu.findings import UniqueRace
from racetrap.verdict.gpu.oracle import (
    JUDGE,
    NOT_CHECKED,
    is_missed,
    oracle_races,
    racing_pairs,
    unconfirmed,
)
from racetrap.verdict.hirace.findings import find_races
from racetrap.verdict.hirace.fit import around, check_fit

__all__ = ["SWEPT", "hirace_quality"]

#: Traces are the same at every point; a process keeps them.
_KEPT_TRACES = 1024


def hirace_quality(params: HiraceParams, spec: QualitySpec) -> Quality:
    """What the golden model makes of the workloads.

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
        for name in CASES:
            for number in range(spec.schedules):
                total += _compared(_case_trace(name, spec.seed + number), params)
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
        hirace = Hirace(params, region)
        for event in run.events():
            hirace.run(event)
        racy, found = run.benchmark.racy, len(hirace.unique)
        total += Quality(1, int(racy), int(racy and not found), 0 if racy else found)
    return total


@lru_cache(_KEPT_TRACES)
def _case_trace(name: str, seed: int) -> Trace:
    return capture(CASES[name], "random", seed)


def _compared(trace: Trace, params: HiraceParams) -> Quality:
    try:
        check_fit(trace, params)
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    reports: defaultdict[UniqueRace, set[int]] = defaultdict(set)
    _, findings = find_races(trace, params)
    for finding in findings:
        reports[finding.report.key].add(finding.earlier.pc)
    found = oracle_races(trace, params, reports, JUDGE)
    missed: dict[tuple[int, int, str], bool] = {}
    for each in found:
        if each.outcome in NOT_CHECKED.values():
            continue
        race = each.race
        first, second = sorted((race.first.pc, race.second.pc))
        key = first, second, race.kind.value
        missed[key] = missed.get(key, True) and is_missed(each)
    false = unconfirmed(reports, racing_pairs(each.race for each in found))
    return Quality(1, len(missed), sum(missed.values()), len(false))


def _figures(
    params: HiraceParams, spec: QualitySpec, recordings: Mapping[str, str]
) -> dict[str, Any]:
    return hirace_quality(params, spec).figures()


SWEPT = Swept(
    workloads=("micro-benchmarks", "concurrency-suite"),
    sizes=("tiny",),
    figures=_figures,
    aliases={
        "lanes": "sm_count",  # streams of transactions, each with a tracker of its own
        "queue_depth": "report_fifo_depth",
    },
    absent=("region_log2",),
)
