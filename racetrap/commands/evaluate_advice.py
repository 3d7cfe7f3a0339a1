"""`racetrap evaluate advice`: advised fences against those in the correct programs."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_advice import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("advice")
@click.argument("names", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@options.budget("Random runs for each question, and as many systematic ones.", 100)
@options.seed
@options.result
def command(
    names: tuple[str, ...], budget: int, seed: int, json_file: str | None
) -> None:  # fmt: skip
    """Compare advised fences with those in the correct versions of the weak-memory programs and of
    the ScoR applications, or of each PROGRAM.

    A variant that lacks a fence is run through `racetrap stress --advise`, and the advised lines
    are compared with the correct variant.  A correct variant gets one redundant fence, and the
    advice must name that fence alone.  See docs/weak-memory.md.
    """
    work = LongWork()
    result = evaluate(
        "advice", *names, work=work, budget=budget, seed=seed,
    )  # fmt: skip
    work.finish_with(result, json_file)
