"""`racetrap generate`: Verilog of a preset and its companion files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.generators.artefacts import generate
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.systems import system_of


@click.command("generate")
@click.argument("preset", shell_complete=options.complete_preset)
@options.output("DIR", "Folder of the files.", show_default="NAME")
@options.setting
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the files and of the top module, and prefix of all other modules.  Default: the "
    "preset, followed by a hash of the configuration if that was changed.",
)
@click.option(
    "--verilog", "forms", metavar="FORM", multiple=True,
    help="Form of the Verilog, may be repeated: asynchronous-reset (registers are reset "
    "asynchronously, not at the clock edge), source-locators (each signal, register and operation "
    "has the line of its source as attribute src).",
)  # fmt: skip
@click.option(
    "--latency", type=click.IntRange(1), metavar="CYCLES",
    help="Report whether the detector keeps up with a memory of this latency, in cycles.",
)  # fmt: skip
@click.option(
    "--part", "parts", metavar="PART", multiple=True,
    help="Write the Verilog of this part alone, such as sm-unit; may be repeated.",
)  # fmt: skip
@options.result
def command(
    preset: str, output: Path | None, settings: tuple[str, ...], name: str | None,
    forms: tuple[str, ...], latency: int | None, parts: tuple[str, ...], json_file: str | None,
) -> None:  # fmt: skip
    """Write the Verilog of PRESET, with a description, lint waivers and register files.

    The files are NAME.v, NAME-PART.v for each part, NAME_pkg.sv (SystemVerilog package of the
    ports' types, - in NAME being _), .json (description), .vlt (lint waivers), .core (FuseSoC); and
    for the registers .h (C), .md (manual), .xml (IP-XACT) and .rdl (SystemRDL, the
    source of these).
    """
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        rate = None
        if latency is not None:
            rate = system_of(params).memory_rate(params, latency)
        paths = generate(preset, params, output, name=name, forms=forms, parts=parts or None)
    console = report_console()
    for path in paths.values():
        console.print(str(path), markup=False)
    if rate and rate.advice:
        console.print(rate.advice, markup=False)
    document = {
        "preset": preset,
        "parameters": asdict(params),
        "name": paths["description"].stem,
        "files": {kind: str(path) for kind, path in paths.items()},
        "segments_per_cycle": rate and rate.per_cycle,
    }
    write_json(json_file, document)
