"""`racetrap evaluate rules`: verdicts of the oracle by each rule."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("rules")
@click.argument("names", metavar="[TEXT]...", nargs=-1)
@options.size
@click.option(
    "--schedules", type=click.IntRange(1), default=8, show_default=True,
    help="Schedules of each program: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@options.seed
@options.result
def command(
    names: tuple[str, ...], size: str, schedules: int, seed: int, json_file: str | None
) -> None:  # fmt: skip
    """Count the races of ScoR's programs and small kernels under each rule of the exact analysis.

    TEXT selects programs whose names contain it.  The rules are those of `racetrap check --oracle
    RULE`; see docs/oracle.md.
    """
    work = LongWork()
    result = evaluate(
        "rules", *names, work=work, size=size, schedules=schedules, seed=seed
    )  # fmt: skip
    work.finish_with(result, json_file)
