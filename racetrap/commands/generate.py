"""`racetrap generate`: the Verilog of a preset and what goes with it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from racetrap.generators.artefacts import generate
from racetrap.generators.presets import find_preset, with_settings
from racetrap.presenters.output import (
    input_errors,
    json_option,
    report_console,
    set_option,
    write_json,
)

__all__ = ["command"]


@click.command("generate")
@click.argument("preset")
@click.option(
    "-o", "--output", "directory", metavar="DIR", default=".", help="Folder of the files.",
    type=click.Path(file_okay=False, path_type=Path),
)  # fmt: skip
@set_option
@json_option
def command(preset: str, directory: Path, settings: tuple[str, ...], json_file: str | None) -> None:
    """Write Verilog, its description, lint waivers, and its registers in several forms.

    The files are PRESET.v, .json (description), .vlt (lint waivers), .core (FuseSoC), and of the
    registers .h (C), .md (manual), .xml (IP-XACT) and .rdl (SystemRDL, their source).
    """
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        paths = generate(preset, params, directory)
    console = report_console(json_file)
    for path in paths.values():
        console.print(str(path), markup=False)
    files = {kind: str(path) for kind, path in paths.items()}
    write_json(json_file, {"preset": preset, "parameters": asdict(params), "files": files})
