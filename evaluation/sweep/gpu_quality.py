"""Detection quality of a GPU detector on traces: its golden model against the oracle.

A race is a pair of instructions that the oracle finds in the run, missed if the detector reports it
at none of its instances; a false report is a (program counter, kind) pair at an instruction without
any race.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from racetrap.evaluation.sweep.quality import Quality
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.failure import DoesNotFit
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture
from racetrap.verdict.gpu.detector_verdict import verdict_of
from racetrap.verdict.gpu.findings import reports_of
from racetrap.verdict.gpu.oracle import (
    NOT_CHECKED,
    is_missed,
    oracle_races,
    racing_pairs,
    unconfirmed,
)

#: Traces are the same at every point; a process keeps them.
_KEPT_TRACES = 1024


def concurrency_traces(spec: QualitySpec) -> Iterator[Trace]:
    """Runs of the concurrency suite, in the schedules of a specification."""
    for name in CASES:
        for number in range(spec.schedules):
            yield _case_trace(name, spec.seed + number)


@lru_cache(_KEPT_TRACES)
def _case_trace(name: str, seed: int) -> Trace:
    return capture(CASES[name], "random", seed)


def gpu_quality(trace: Trace, params: Any, rule: str) -> Quality:
    """Counts of a detector on a trace, by one of ``ORACLE_RULES``.

    Raises
    ------
    DoesNotFit
        If the trace does not fit the configuration.
    """
    own = verdict_of(params)
    try:
        _, findings = own.find_races(trace, params, None)
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    reports = reports_of(findings)
    found = oracle_races(trace, params, reports, rule)
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
