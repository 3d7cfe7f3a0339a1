"""`racetrap evaluate advice`: advice on programs beside what their authors have."""

from __future__ import annotations

from collections import Counter

import click

from racetrap.commands.shared.options import (
    budget_option,
    jobs_option,
    result_options,
    seed_option,
)
from racetrap.commands.shared.terminal import report_console, write_json
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.bugaroo.advised import Advised, advice_runs, advice_table, advise
from racetrap.presenters.tables import show_table
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.workloads.registry import WORKLOADS


@click.command("advice")
@click.argument(
    "names", metavar="[PROGRAM]...", nargs=-1, type=click.Choice([*PROGRAMS, *WORKLOADS])
)
@budget_option("Random runs of each question, and as many systematic ones.", 100)
@seed_option
@jobs_option
@result_options
def command(
    names: tuple[str, ...], budget: int, seed: int, jobs: int, json_file: str | None
) -> None:  # fmt: skip
    """Advice on the programs of weak memory and the race switches of the ScoR applications,
    or on each PROGRAM of them.

    A variant that lacks something is advised on as `racetrap stress --advise` does, and the lines
    are compared with those of the right variant; a right variant has a fence added on purpose,
    which alone must be named.  See docs/weak-memory.md.
    """
    console = report_console()

    def show(each: Advised) -> None:
        console.print(f"{each.program} {each.variant}: {each.verdict}", markup=False)

    advised = run_parallel(advise, advice_runs(names, budget, seed), jobs, "Advising", show)
    table = advice_table(advised)
    verdicts = Counter(each.verdict.partition(":")[0] for each in advised)
    show_table(console, table)
    console.print(
        "; ".join(f"{verdict}: {count}" for verdict, count in verdicts.most_common()), markup=False
    )
    write_json(json_file, {
        "runs": budget, "seed": seed, "verdicts": dict(verdicts),
        "tables": {table.name: table.to_json()},
    })  # fmt: skip
