"""`racetrap evaluate policies`: races missed by dropping and sampling accesses."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.scord.access_policies import JudgedBuild, PolicyRun, judge, tables
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Schedule, applications, micro_benchmarks
from racetrap.presenters.tables import show_tables


@click.command("policies")
@options.size
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(list(RACES)))
@click.option(
    "--schedules", type=click.IntRange(1), default=3, show_default=True,
    help="Schedules of each build: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@options.seed
@options.jobs
@options.result
def command(
    size: str, workloads: tuple[str, ...], schedules: int, seed: int, jobs: int,
    json_file: str | None,
) -> None:  # fmt: skip
    """Count the races of the ScoR suite found by access buffers that drop or sample accesses.

    PROGRAM is a row of the paper's tables (default: all).  Every build is checked by the exact
    analysis and by the golden model under each policy.
    """
    own = tuple(Schedule(number, seed) for number in range(schedules))
    runs = {
        build.name: PolicyRun(build, size, own)
        for build in (*applications(all_together=False), *micro_benchmarks())
        if not workloads or build.row in workloads
    }
    work = LongWork(jobs)
    found = tables(work.one_each("Running", Measure(judge, _words), runs).values())
    facts = {"size": size, "schedules": schedules, "seed": seed, "builds": len(runs)}
    work.finish(
        lambda console: show_tables(console, found, facts),
        {**facts, "tables": {table.name: table.to_json() for table in found}}, json_file,
    )  # fmt: skip


def _words(judged: JudgedBuild) -> str:
    _, pairs, counts = judged
    found = " ".join(str(len(each.found)) for each in counts.values())
    return f"{len(pairs)} races, found by each policy {found}"
