"""`racetrap soc run`: firmware on an example system with the bus monitor."""

from __future__ import annotations

from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    progress_bar,
    report_console,
    write_json,
)
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.soc_runs import print_soc_run
from racetrap.rtl.soc.picorv32_system import SocParams
from racetrap.sim.soc.image import read_image
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import CORES


@click.command("run")
@click.argument("system", metavar="SYSTEM", type=options.Choice(tuple(CORES)))
@click.argument("firmware", metavar="FIRMWARE", type=InputFile())
@click.argument("arguments", metavar="[ARGS]...", nargs=-1)
@click.option(
    "--trace", "trace_file", metavar="FILE", type=OutputFile(),
    help="Write the operations that the monitor has taken as a trace, for `racetrap check`.",
)  # fmt: skip
@click.option(
    "--waves", metavar="FILE", type=OutputFile(Path),
    help="Write waves of all signals in FST, from a build of their own.",
)  # fmt: skip
@options.result
def command(
    system: str, firmware: str, arguments: tuple[str, ...], trace_file: str | None,
    waves: Path | None, json_file: str | None,
) -> None:  # fmt: skip
    """Run FIRMWARE with ARGS on SYSTEM, and print what the bus monitor reports.

    SYSTEM is picorv32: PicoRV32, a write-back cache, a DMA engine and the monitor.  FIRMWARE is an
    ELF file for it, or a text image (docs/soc.md).

    Exit status: 0 no race, 1 races or wrong data, 2 bad input, 3 the firmware does not return from
    main, or a tool failed.
    """
    console = report_console()
    with input_errors(firmware):
        image = read_image(Path(firmware))
    with progress_bar("Running"):
        run = run_firmware(system, SocParams(), image, arguments, waves=waves)
    if trace_file is not None:
        with input_errors():
            is_text = trace_file.endswith(options.TEXT_SUFFIX)
            (run.trace.write_text if is_text else run.trace.write_binary)(trace_file)
    choice = RaceChoice(has_json=json_file is not None)
    document = print_soc_run(console, choice, run)
    write_json(json_file, {"system": system, "firmware": firmware, **document})
    exit_on(run.races or run.wrong_reads)
