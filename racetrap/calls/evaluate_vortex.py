"""Evaluation of detectors beside an open GPU."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.table import tables_to_json
from racetrap.evaluation.vortex.detection import (
    APPLICATION_SEEDS,
    DETECTORS,
    MICRO_SEEDS,
    detection_tables,
    problems_of,
)
from racetrap.evaluation.vortex.overhead import (
    NAMES,
    OverheadFound,
    overhead_runs,
    overhead_tables,
    run_overhead,
)
from racetrap.evaluation.vortex.programs import PROGRAMS, ProgramFound, ProgramRun, run_program

#: Programs that can be chosen.
CHOICES = tuple(PROGRAMS)


def evaluate(work: LongWork, workloads: Sequence[str] = ()) -> EvaluationResult:
    """Run the ScoR suite on Vortex beside each detector.

    Parameters
    ----------
    work : LongWork
        The rows.
    workloads : sequence of str
        Micro-benchmarks and applications; by default all.
    """
    chosen = [name for name in CHOICES if not workloads or name in workloads]
    runs = {
        f"{program} beside {preset}": [
            ProgramRun(program, preset, seed)
            for seed in (MICRO_SEEDS if program.is_micro else APPLICATION_SEEDS)
        ]
        for preset in DETECTORS
        for name in chosen
        for program in PROGRAMS[name]
    }
    found = {
        (runs[label][0].program, runs[label][0].preset): results
        for label, results in work.rows("Running", Measure(run_program, _verdicts), runs).items()
    }
    applications = [name for name in NAMES if name in chosen]
    costs = work.rows(
        "Measuring", Measure(run_overhead, _overheads),
        overhead_runs(applications) if applications else {},
    )  # fmt: skip
    tables = [*detection_tables(found), *overhead_tables(applications, costs)]
    problems = problems_of(found)
    facts = {"programs": len({each for each, _ in found}), "runs": sum(map(len, found.values()))}
    return EvaluationResult(
        name="vortex", tables=tables, facts=facts, problems=problems,
        document={**facts, "tables": tables_to_json(tables), "problems": problems},
    )  # fmt: skip


def _verdicts(*runs: ProgramFound) -> str:
    reported, racy = sum(run.is_reported for run in runs), sum(run.is_racy for run in runs)
    return f"{reported} of {len(runs)} reported, {racy} racy by the exact analysis"


def _overheads(*runs: OverheadFound) -> str:
    return ", ".join(f"{run.more - 1:+.1%}" for run in runs)
