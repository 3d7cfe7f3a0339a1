"""`racetrap generate`: Verilog of a preset and its companion files."""

from __future__ import annotations

from dataclasses import asdict
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

__all__ = ["command"]


@click.command("generate")
@click.argument("preset", shell_complete=complete_preset)
@output_option("DIR", "Folder of the files.", show_default="PRESET")
@set_option
@click.option(
    "--asynchronous-reset", is_flag=True, help="Reset registers at once, not at the clock's edge."
)
@result_options
def command(
    preset: str, output: Path | None, settings: tuple[str, ...], asynchronous_reset: bool,
    json_file: str | None,
) -> None:  # fmt: skip
    """Write Verilog, its description, lint waivers, and its registers in several forms.

    The files are PRESET.v, .json (description), .vlt (lint waivers), .core (FuseSoC), and of the
    registers .h (C), .md (manual), .xml (IP-XACT) and .rdl (SystemRDL, their source).
    """
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        folder = output or Path(preset)
        paths = generate(preset, params, folder, asynchronous_reset=asynchronous_reset)
    console = report_console()
    for path in paths.values():
        console.print(str(path), markup=False)
    files = {kind: str(path) for kind, path in paths.items()}
    write_json(json_file, {"preset": preset, "parameters": asdict(params), "files": files})
