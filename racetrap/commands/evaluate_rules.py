"""`racetrap evaluate rules`: verdicts of the oracle by each rule."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.scord.programs import Schedule
from racetrap.evaluation.scord.rule_verdicts import SubjectRun, Verdicts, judge, subjects, tables
from racetrap.presenters.tables import show_tables


@click.command("rules")
@click.argument("names", metavar="[TEXT]...", nargs=-1)
@options.size
@click.option(
    "--schedules", type=click.IntRange(1), default=8, show_default=True,
    help="Schedules of each program: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@options.seed
@options.jobs
@options.result
def command(
    names: tuple[str, ...], size: str, schedules: int, seed: int, jobs: int, json_file: str | None
) -> None:
    """Count races under each rule of the exact analysis: ScoR's programs and small kernels.

    TEXT selects programs whose names contain it.  The rules are those of `racetrap check --oracle
    RULE`; see docs/oracle.md.
    """
    chosen = [each for each in subjects() if not names or any(name in each.name for name in names)]
    if not chosen:
        raise click.BadParameter(
            f"Text must be part of a program's name, not {' or '.join(map(repr, names))}"
        )
    own = tuple(Schedule(number, seed) for number in range(schedules))
    runs = {f"{each.group}, {each.name}": SubjectRun(each, size, own) for each in chosen}
    work = LongWork(jobs)
    found = tables(work.one_each("Judging", Measure(judge, _words), runs).values())
    facts = {"size": size, "schedules": schedules, "seed": seed, "programs": len(chosen)}
    work.finish(
        lambda console: show_tables(console, found, facts),
        {**facts, "tables": {table.name: table.to_json() for table in found}}, json_file,
    )  # fmt: skip


def _words(verdicts: Verdicts) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in verdicts.races.items())
