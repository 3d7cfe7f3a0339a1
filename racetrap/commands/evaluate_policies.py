"""`racetrap evaluate policies`: races missed by dropping and sampling accesses."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_policies import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("policies")
@options.size
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@click.option(
    "--schedules", type=click.IntRange(1), default=3, show_default=True,
    help="Schedules of each build: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@options.seed
@options.result
def command(
    size: str, workloads: tuple[str, ...], schedules: int, seed: int, json_file: str | None
) -> None:  # fmt: skip
    """Count the races of the ScoR suite found by access buffers that drop or sample accesses.

    PROGRAM is a row of the paper's tables (default: all).  Every build is checked by the exact
    analysis and by the golden model under each policy.
    """
    work = LongWork()
    result = evaluate(
        "policies", *workloads, work=work, size=size, schedules=schedules, seed=seed
    )  # fmt: skip
    work.finish_with(result, json_file)
