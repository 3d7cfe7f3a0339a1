"""`racetrap evaluate bugaroo`: tables of the Bugaroo paper."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.bugaroo.exposures import Exposure, ExposureRun, expose, exposed_wrongly
from racetrap.evaluation.bugaroo.tables import make_tables
from racetrap.evaluation.bugaroo.verdicts import Verdict, judge, problems, variant_runs
from racetrap.presenters.tables import show_tables
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS


@click.command("bugaroo")
@click.argument("names", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(list(PROGRAMS)))
@click.option("--race-free", is_flag=True, help="Run only the variants that lack no fence.")
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each variant: round robin, then random ones.",
)  # fmt: skip
@options.budget("Runs of each variant under each weak memory model; 0: none.", 100, least=0)
@options.seed
@options.jobs
@options.result
def command(
    names: tuple[str, ...], race_free: bool, schedules: int, budget: int,
    seed: int, jobs: int, json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Tables II, III and IV of the Bugaroo paper, and test each PROGRAM (default: all)
    with and without its fences.

    Every variant runs in sequentially consistent schedules, must give NumPy's result, and is judged
    by the exact analysis; then it runs under write buffers and views, as by `racetrap stress`.  See
    docs/weak-memory-programs.md and docs/weak-memory.md.

    Exit status 0 if results and verdicts are as the suite expects, else 3.
    """
    work = LongWork(jobs)
    variants = {
        f"{each.program} {each.variant}": each
        for each in variant_runs(names, schedules, right_only=race_free)
    }
    verdicts = [*work.one_each("Judging", Measure(judge, _judged), variants).values()]
    stressed = {
        f"{name} under weak memory": ExposureRun(each.program, each.variant, budget, seed)
        for name, each in variants.items()
        if budget
    }
    exposures = [*work.one_each("Stressing", Measure(expose, _exposed), stressed).values()]
    tables = make_tables(verdicts, exposures)
    wrong = [*problems(verdicts), *exposed_wrongly(exposures)]
    facts = {
        "schedules": schedules, "variants": len(variants), "runs": budget,
        "seed": seed,
    }  # fmt: skip
    document = {
        **facts, "tables": {table.name: table.to_json() for table in tables}, "problems": wrong,
    }  # fmt: skip
    work.finish(
        lambda console: show_tables(console, tables, facts), document, json_file, problems=wrong
    )


def _judged(verdict: Verdict) -> str:
    return f"wrong {verdict.wrong}, racy {verdict.racy} of {verdict.schedules}"


def _exposed(exposure: Exposure) -> str:
    return f"fails in {exposure.views} of {exposure.runs} runs by views"
