"""`racetrap cost`: hardware cost of presets beside the papers' figures."""

from __future__ import annotations

import click

from racetrap.calls.cost import cost
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.fpga.flow.families import FAMILIES


@click.command("cost")
@click.argument("presets", nargs=-1, required=True, shell_complete=options.complete_preset)
@options.setting
@click.option(
    "--family", "families", metavar="FAMILY[:DEVICE]", multiple=True,
    default=("ecp5", "asic"), show_default=True,
    help=f"Target: {', '.join(FAMILIES)}, or one device of a family instead of its default; may be "
    "repeated.",
)  # fmt: skip
@click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(0, 100),
    help="Place and route with seeds 1 to N; 0: only synthesise.  Use 8 for published figures.",
)  # fmt: skip
@click.option(
    "--block", "names", metavar="NAME", multiple=True,
    help="Only this block; may be repeated.  A whole system, or a block that makes up most of one, "
    "is placed only if named.",
)  # fmt: skip
@click.option(
    "--constraint", "constraint_mhz", metavar="MHZ", default=100.0, show_default=True,
    type=click.FloatRange(1, 1000), help="Target clock of place and route.",
)  # fmt: skip
@form_files(PAGE)
@options.result
def command(
    presets: tuple[str, ...], settings: tuple[str, ...], families: tuple[str, ...],
    seeds: int, names: tuple[str, ...], constraint_mhz: float, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Measure the hardware of PRESETS: state bits, LUT, FF, RAM, Fmax, area.

    Prints a table for each preset, with a row for each block and the paper's figures beside it.
    Results are cached: nothing is measured twice.

    Exit status 0 if everything was measured, else 3; what was measured is printed.
    """
    work = LongWork()
    result = cost(
        *presets, settings=settings, families=families, seeds=seeds, blocks=names,
        constraint_mhz=constraint_mhz, work=work,
    )  # fmt: skip
    work.finish_with(result, json_file, output.get(PAGE.end))
