"""Evaluation of detectors beside an open GPU."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.table import tables_to_json
from racetrap.evaluation.vortex.detection import (
    DETECTORS,
    SEEDS,
    MicroFound,
    MicroRun,
    detection_tables,
    problems_of,
    run_micro,
)
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

#: Programs that can be chosen.
CHOICES = tuple(MICRO_BENCHMARKS)


def evaluate(work: LongWork, workloads: Sequence[str] = ()) -> EvaluationResult:
    """Run the ScoR micro-benchmarks on Vortex beside each detector.

    Parameters
    ----------
    work : LongWork
        The rows.
    workloads : sequence of str
        Micro-benchmarks; by default all.
    """
    runs = {
        f"{name} beside {preset}": [MicroRun(name, preset, seed) for seed in SEEDS]
        for preset in DETECTORS
        for name in CHOICES
        if not workloads or name in workloads
    }
    found = {
        (runs[label][0].benchmark, runs[label][0].preset): results
        for label, results in work.rows("Running", Measure(run_micro, _words), runs).items()
    }
    tables, problems = detection_tables(found), problems_of(found)
    facts = {"programs": len({name for name, _ in found}), "seeds": len(SEEDS)}
    return EvaluationResult(
        name="vortex", tables=tables, facts=facts, problems=problems,
        document={**facts, "tables": tables_to_json(tables), "problems": problems},
    )  # fmt: skip


def _words(*runs: MicroFound) -> str:
    reported, racy = sum(run.is_reported for run in runs), sum(run.is_racy for run in runs)
    return f"{reported} of {len(runs)} reported, {racy} racy by the exact analysis"
