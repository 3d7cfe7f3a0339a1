"""`racetrap evaluate noncoherent`: figures and table of the thesis on non-coherent accelerators."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_noncoherent import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files


@click.command("noncoherent")
@click.argument("programs", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@click.option(
    "--schedules", type=click.IntRange(1), default=100, show_default=True,
    help="Runs of each case of a program under random timings.",
)  # fmt: skip
@options.budget("Random traces to compare with the exhaustive machine.", 10_000, least=0)
@click.option(
    "--also", multiple=True,
    type=options.Choice(("fixpoint", "original-size", "monitor", "cycles", "live")),
    help="Further measurements; may be repeated.  fixpoint: visit every state of the smallest "
    "machines (three minutes); original-size: time the analysis on inputs of the thesis' sizes (a "
    "minute, 1 GB of temporary files); monitor: compare the bus monitor, with few entries per set, "
    "with both modes; cycles: play the programs on the generated bus monitor and count its cycles; "
    "live: run them as firmware, under as many delays of the engine (hours; docs/soc.md).",
)  # fmt: skip
@options.seed
@form_files(PAGE)
@options.result
def command(
    programs: tuple[str, ...], schedules: int, budget: int, also: tuple[str, ...], seed: int,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce figures and Table 5.1 of the thesis on non-coherent accelerators.

    Each PROGRAM (default: all; they are modelled on the thesis's eleven and on firmware) is checked
    in both modes, as it is and with single syncs, flushes and paddings removed; the exhaustive
    machine and random timings decide what is harmful.  Both modes are also compared with the
    machine on random traces.

    Exit status 0 if everything harmful is reported, mode strict agrees with the machine everywhere,
    and the bus monitor has no missed or false race and equals its golden model, else 3.
    """
    work = LongWork()
    result = evaluate(
        "noncoherent", *programs, work=work, schedules=schedules, budget=budget, also=also,
        seed=seed,
    )  # fmt: skip
    work.finish_with(result, json_file, output.get(PAGE.end))
