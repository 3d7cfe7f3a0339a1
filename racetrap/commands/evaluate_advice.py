"""`racetrap evaluate advice`: advice on programs beside what their authors have."""

from __future__ import annotations

from collections import Counter

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.bugaroo.advised import advice_runs, advice_table, advise
from racetrap.presenters.tables import show_tables
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.workloads.registry import WORKLOADS


@click.command("advice")
@click.argument(
    "names", metavar="[PROGRAM]...", nargs=-1, type=options.Choice([*PROGRAMS, *WORKLOADS])
)
@options.budget("Random runs of each question, and as many systematic ones.", 100)
@options.seed
@options.jobs
@options.result
def command(
    names: tuple[str, ...], budget: int, seed: int, jobs: int, json_file: str | None
) -> None:  # fmt: skip
    """Advice on the programs of weak memory and the race switches of the ScoR applications,
    or on each PROGRAM of them.

    A variant that lacks something is advised on as `racetrap stress --advise` does, and the lines
    are compared with those of the right variant; a right variant has a fence added on purpose,
    which alone must be named.  See docs/weak-memory.md.
    """
    questions = {
        f"{each.program} {each.variant}": each for each in advice_runs(names, budget, seed)
    }
    work = LongWork(jobs)
    measure = Measure(advise, lambda each: each.verdict)
    advised = list(work.one_each("Advising", measure, questions).values())
    table = advice_table(advised)
    verdicts = dict(Counter(each.verdict.partition(":")[0] for each in advised).most_common())
    work.finish(
        lambda console: show_tables(console, [table], verdicts),
        {"runs": budget, "seed": seed, "verdicts": verdicts,
         "tables": {table.name: table.to_json()}},
        json_file,
    )  # fmt: skip
