"""Races missed by dropping and sampling accesses."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.scord.access_policies import JudgedBuild, PolicyRun, judge, tables
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Schedule, applications, micro_benchmarks
from racetrap.evaluation.table import tables_to_json

#: Programs that can be chosen.
CHOICES = tuple(RACES)


def evaluate(
    work: LongWork, workloads: Sequence[str] = (), *, size: str = "tiny", schedules: int = 3,
    seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Count the races of the ScoR suite found by access buffers that drop or sample accesses.

    Parameters
    ----------
    work : LongWork
        The rows.
    workloads : sequence of str
        Programs; by default all.
    size : str
        Size of the applications' inputs.
    schedules : int
        Schedules of each build.
    seed : int
        Seed for all random choices.
    """
    own = tuple(Schedule(number, seed) for number in range(schedules))
    runs = {
        build.name: PolicyRun(build, size, own)
        for build in (*applications(all_together=False), *micro_benchmarks())
        if not workloads or build.row in workloads
    }
    found = tables(work.one_each("Running", Measure(judge, _words), runs).values())
    facts = {"size": size, "schedules": schedules, "seed": seed, "builds": len(runs)}
    return EvaluationResult(
        name="policies", tables=found, facts=facts,
        document={**facts, "tables": tables_to_json(found)},
    )  # fmt: skip


def _words(judged: JudgedBuild) -> str:
    _, pairs, counts = judged
    found = " ".join(str(len(each.found)) for each in counts.values())
    return f"{len(pairs)} races, found by each policy {found}"
