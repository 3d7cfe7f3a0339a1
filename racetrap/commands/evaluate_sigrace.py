"""`racetrap evaluate sigrace`: figures and tables of the SigRace paper."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import NameOrFile
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES


@click.command("sigrace")
@click.option(
    "--size", type=options.Choice(SIZES), default="small", show_default=True,
    help="Size of the programs' inputs.",
)  # fmt: skip
@click.argument("programs", metavar="[PROGRAM|TRACE]...", nargs=-1, type=NameOrFile(PROGRAMS))
@options.budget("Runs of each program with an injected race.", 25, least=0)
@click.option(
    "--hardware-size", type=options.Choice(("none", *SIZES)), default="tiny", show_default=True,
    help="Size of the programs' runs on the generated hardware.",
)  # fmt: skip
@options.seed
@form_files(PAGE)
@options.result
def command(
    size: str, programs: tuple[str, ...], budget: int, hardware_size: str, seed: int,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Figures 7 to 10 and Table 7 of the SigRace paper on our threaded programs, or on
    each PROGRAM and each recording TRACE.

    Every program is recorded with 8 threads; a TRACE is a file of `racetrap trace record`, and
    ./NAME one with the name of a program.  The recording is checked with the signatures of all
    configurations, by the exact analysis, SigRace, Ideal SigRace and W-ReEnact, and by the
    generated hardware.  Then single synchronisation operations are removed.

    Exit status 0 if every race reported by SigRace is real, hardware and golden model agree, and
    the exact analysis agrees with ThreadSanitizer, else 3.
    """
    work = LongWork()
    result = evaluate(
        "sigrace", *programs, work=work, size=size, budget=budget, hardware_size=hardware_size,
        seed=seed,
    )  # fmt: skip
    work.finish_with(result, json_file, output.get(PAGE.end))
