"""`racetrap evaluate barracuda`: the BARRACUDA paper's table and figures."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_barracuda import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files


@click.command("barracuda")
@click.argument("names", metavar="[BENCHMARK]...", nargs=-1, type=options.Choice(CHOICES))
@options.seed
@form_files(PAGE)
@options.result
def command(
    names: tuple[str, ...], seed: int, output: dict[str, str], json_file: str | None
) -> None:
    """Reproduce Table 1 and Figures 9 and 10 of the BARRACUDA paper.

    BENCHMARK is a row of Table 1, or small-kernels (default: all).  Miniatures and CUB's own code
    stand in for the paper's programs; they need the extra cuda.  Each runs in four schedules.

    Exit status 0 if every program passed its own check and the small kernels' witnesses agree with
    their truth, else 3.
    """
    work = LongWork()
    result = evaluate("barracuda", *names, work=work, seed=seed)
    work.finish_with(result, json_file, output.get(PAGE.end))
