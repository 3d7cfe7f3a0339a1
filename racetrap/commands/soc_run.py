"""`racetrap soc run`: firmware on an example system with the bus monitor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    progress_bar,
    report_console,
    write_file,
    write_json,
)
from racetrap.presenters.needless import print_without, without_csv
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.soc_runs import print_soc_run
from racetrap.sim.soc.firmware import read_firmware
from racetrap.sim.soc.left_out import runs_without_each
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import SYSTEMS


@click.command("run")
@click.argument("system", metavar="SYSTEM", type=options.Choice(tuple(SYSTEMS)))
@click.argument("firmware", metavar="FIRMWARE", type=InputFile())
@click.argument("arguments", metavar="[ARGS]...", nargs=-1)
@options.setting
@form_files(
    Form(".trace", "the operations that the monitor has taken, as a trace", False),
    Form(".fst", "waves of all signals, from a build of their own", False),
    Form(".csv", "what another run shows without each cache operation and wait", False),
)
@options.result
def command(
    system: str, firmware: str, arguments: tuple[str, ...], settings: tuple[str, ...],
    output: Mapping[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Run FIRMWARE with ARGS on SYSTEM, and print what the bus monitor reports.

    SYSTEM is a core with its cache, beside a DMA engine and the monitor: picorv32 (PicoRV32,
    write-back) or vexriscv (VexRiscv, write-through).  FIRMWARE is a program in C with racetrap's
    headers, an ELF file for the system, or a text image (docs/soc.md).  --set changes the cache of
    picorv32: `ways` (1; 2 or 4), `lines` (64), `line_bytes` (64), `write_through` (false).

    Exit status: 0 no race, 1 races or wrong data, 2 bad input, 3 the firmware does not return from
    main, or a tool failed.
    """
    console = report_console()
    with input_errors():
        params, waves = SYSTEMS[system].params_with(settings), output.get(".fst")
    with input_errors(firmware):
        image = read_firmware(Path(firmware))
    with progress_bar("Running"):
        run = run_firmware(system, params, image, arguments, waves=Path(waves) if waves else None)
    if ".trace" in output:
        with input_errors():
            run.trace.write_binary(output[".trace"])
    choice = RaceChoice(has_json=json_file is not None)
    document = print_soc_run(console, choice, run)
    if ".csv" in output:
        locations = run.trace.header.locations
        with progress_bar("Running without each cache operation and wait"):
            places = list(runs_without_each(system, params, image, arguments, run))
        document["without"] = print_without(console, places, locations)
        write_file(output[".csv"], lambda: without_csv(places, locations))
    cache = asdict(params.cache)
    write_json(json_file, {"system": system, "cache": cache, "firmware": firmware, **document})
    exit_on(run.races or run.wrong_reads)
