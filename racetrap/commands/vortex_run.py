"""`racetrap vortex run`: a C kernel on simulated cores of Vortex beside a detector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from racetrap.calls.report import Report
from racetrap.calls.vortex_run import DETECTOR, vortex_run
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.terminal import exit_on, report_console, write_json
from racetrap.presenters.race_choice import RaceChoice


@click.command("run")
@click.argument("kernel", metavar="KERNEL", type=InputFile())
@click.argument("macros", metavar="[MACRO[=VALUE]]...", nargs=-1)
@options.detector(f"Preset of the detector beside the cores.  [default: {DETECTOR}]")
@options.setting
@options.seed
@form_files(
    Form(".trace", "the trace, in the order in which memory was accessed", False),
    Form(".fst", "waves of detector and adapters in the first launch", False),
)
@options.result
def command(
    kernel: str, macros: tuple[str, ...], detector: str | None, settings: tuple[str, ...],
    seed: int, output: Mapping[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Run KERNEL, a C source, on simulated cores of Vortex, with a detector's hardware beside it.

    MACROs are defined for the compiler.  Hardware and golden models are compared at every step,
    reports of the hardware are printed with source lines, an exact analysis judges the trace of the
    run, and a second run without the detector shows what it costs.  --set changes parameters of
    the detector, and `cores` (4), `blocks` (8), `threads` (16) of a block, `l1` (false), `latency`
    (20) and `jitter` (0) of the memory, `argument` of the kernel and `most_cycles`.

    Exit status: 0 no race, 1 races found, 2 bad input, 3 hardware and golden model disagree, the
    kernel does not end, or Vortex or a compiler is not installed.
    """
    choice = replace(RaceChoice(), has_json=json_file is not None)
    result = vortex_run(
        kernel, macros, detector=detector, settings=settings, seed=seed, trace=output.get(".trace"),
        waves=output.get(".fst"), report=Report(report_console(), choice),
    )  # fmt: skip
    write_json(json_file, result.document)
    exit_on(result.has_findings)
