"""`racetrap generate`: Verilog of a preset and its companion files."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from racetrap.commands.shared.options import (
    complete_preset,
    output_option,
    result_options,
    set_option,
)
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.generators.artefacts import generate
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.scord.params import ScordParams

__all__ = ["command"]


@click.command("generate")
@click.argument("preset", shell_complete=complete_preset)
@output_option("DIR", "Folder of the files.", show_default="PRESET")
@set_option
@click.option(
    "--asynchronous-reset", is_flag=True, help="Reset registers at once, not at the clock's edge."
)
@click.option(
    "--latency", type=click.IntRange(1), metavar="CYCLES",
    help="Say whether ScoRD keeps up with metadata in a memory that answers after so many cycles.",
)  # fmt: skip
@result_options
def command(
    preset: str, output: Path | None, settings: tuple[str, ...], asynchronous_reset: bool,
    latency: int | None, json_file: str | None,
) -> None:  # fmt: skip
    """Write Verilog, its description, lint waivers, and its registers in several forms.

    The files are PRESET.v, .json (description), .vlt (lint waivers), .core (FuseSoC), and of the
    registers .h (C), .md (manual), .xml (IP-XACT) and .rdl (SystemRDL, their source).
    """
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        rate, shortfall = (None, "") if latency is None else _rate(preset, params, latency)
        folder = output or Path(preset)
        paths = generate(preset, params, folder, asynchronous_reset=asynchronous_reset)
    console = report_console(json_file)
    for path in paths.values():
        console.print(str(path), markup=False)
    files = {kind: str(path) for kind, path in paths.items()}
    if shortfall:
        console.print(shortfall, markup=False)
    write_json(json_file, {
        "preset": preset, "parameters": asdict(params), "files": files, "segments_per_cycle": rate,
    })  # fmt: skip


def _rate(preset: str, params: Params, latency: int) -> tuple[float, str]:
    """Segments that a metadata port takes in a cycle, and a sentence if it could take more."""
    if not isinstance(params, ScordParams) or params.local_bytes:
        raise ValueError(
            f"Option --latency must come with a preset of ScoRD whose metadata are in memory, not "
            f"{preset}"
        )
    rate = params.segments_per_cycle(latency)
    if rate == 1:
        return rate, ""
    words, enough = params.words_per_cycle, params.outstanding_for(latency)
    better = replace(params, outstanding=enough).segments_per_cycle(latency)
    return rate, (
        f"Parameter outstanding is too small for a memory latency of {latency} cycles: with "
        f"{params.outstanding} a metadata port takes {words * rate:.2g} of {words} accesses a "
        f"cycle, with --set outstanding={enough} it takes {words * better:.2g}."
    )
