"""`racetrap evaluate advice`: advised fences against those in the correct programs."""

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
@options.budget("Random runs for each question, and as many systematic ones.", 100)
@options.seed
@options.jobs
@options.result
def command(
    names: tuple[str, ...], budget: int, seed: int, jobs: int, json_file: str | None
) -> None:  # fmt: skip
    """Compare advised fences with those in the correct versions of the weak-memory programs and of
    the ScoR applications, or of each PROGRAM.

    A variant that lacks a fence is run through `racetrap stress --advise`, and the advised lines
    are compared with the correct variant.  A correct variant gets one redundant fence, and the
    advice must name that fence alone.  See docs/weak-memory.md.
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
