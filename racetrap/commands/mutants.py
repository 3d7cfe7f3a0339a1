"""`racetrap mutants`: changes of the Verilog that campaign and benches find, or do not."""

from __future__ import annotations

import click

from racetrap.calls.mutants import mutants
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files


@click.command("mutants")
@click.argument("preset", shell_complete=options.complete_preset)
@click.option(
    "--block", "blocks", metavar="NAME", multiple=True,
    help="Only this block and those inside; may be repeated.",
)  # fmt: skip
@click.option(
    "--count", default=20, show_default=True, type=click.IntRange(1, 1000),
    help="Mutants of each block.",
)  # fmt: skip
@click.option(
    "--cases", default=20, show_default=True, type=click.IntRange(1),
    help="Cases of the campaign in which a mutant runs, until one kills it.",
)  # fmt: skip
@options.seed
@form_files(PAGE)
@options.result
def command(
    preset: str, blocks: tuple[str, ...], count: int, cases: int, seed: int,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Mutate the Verilog of PRESET bit by bit, and count those that campaign and benches kill.

    A block is a module of the Verilog, named as there but without the system's name.  A
    survivor counts as equivalent only if a proof says so.

    Exit status 0 if the list of examined survivors has a reason for every other one, else 3.
    """
    work = LongWork()
    result = mutants(work, preset, blocks, count=count, cases=cases, seed=seed)
    work.finish_with(result, json_file, output.get(PAGE.end))
