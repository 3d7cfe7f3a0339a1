"""`racetrap evaluate bugaroo`: tables of the Bugaroo paper."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_bugaroo import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("bugaroo")
@click.argument("names", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@click.option("--race-free", is_flag=True, help="Run only the variants that lack no fence.")
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each variant: round robin, then random ones.",
)  # fmt: skip
@options.budget("Runs of each variant under each weak memory model; 0: none.", 100, least=0)
@options.seed
@options.result
def command(
    names: tuple[str, ...], race_free: bool, schedules: int, budget: int,
    seed: int, json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Tables II, III and IV of the Bugaroo paper, and test each PROGRAM (default: all)
    with and without its fences.

    Every variant runs in sequentially consistent schedules, must give NumPy's result, and is judged
    by the exact analysis; then it runs under write buffers and views, as by `racetrap stress`.  See
    docs/weak-memory-programs.md and docs/weak-memory.md.

    Exit status 0 if results and verdicts are as the suite expects, else 3.
    """
    work = LongWork()
    result = evaluate(
        "bugaroo", *names, work=work, race_free=race_free, schedules=schedules, budget=budget,
        seed=seed,
    )  # fmt: skip
    work.finish_with(result, json_file)
