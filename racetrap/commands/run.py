"""`racetrap run`: a whole CUDA program, its kernels on the executor, every launch checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from racetrap.commands.shared.input_files import NamedFiles
from racetrap.commands.shared.kernels import launch_bar
from racetrap.commands.shared.options import (
    compile_options,
    compiler_options,
    complete_preset,
    numbers_from,
    race_options,
    result_options,
    seed_option,
)
from racetrap.commands.shared.output_files import OutputFile, is_standard_output_taken
from racetrap.commands.shared.programs import executable, program_errors
from racetrap.commands.shared.reports import Reports, report_options
from racetrap.commands.shared.terminal import (
    ExitStatus,
    input_errors,
    progress_bar,
    report_console,
    write_json,
)
from racetrap.sim.gpu.executor.machine.limits import (
    DEFAULT_EVENT_LIMIT,
    DEFAULT_INSTRUCTION_LIMIT,
)

if TYPE_CHECKING:
    from racetrap.verdict.gpu.program_check import ProgramCheck
    from racetrap.verdict.gpu.trace_check import Detector


def _detector(preset: str | None, is_needed: bool) -> Detector | None:
    if preset is None and not is_needed:
        return None
    # The hardware is slow to import.
    from racetrap.commands.shared.stimuli import chosen_params
    from racetrap.golden_model.trace import Trace
    from racetrap.verdict.gpu.trace_check import MOST_FINDING, Detector

    name = preset or MOST_FINDING
    with input_errors():
        return Detector(name, chosen_params(name, (), Trace))


def _simulate(detector: Detector, check: ProgramCheck, seed: int) -> str:
    """Let the hardware take all traces; a sentence of how much was compared."""
    from racetrap.generators.systems import system_of
    from racetrap.sim.cosim.fast.build import build_fast

    with input_errors():
        if not detector.params.trace_port:
            raise ValueError("Parameter trace_port must be true to compare steps, not false")
    with progress_bar("Building"):
        model = build_fast(detector.name, detector.params)
    own = system_of(detector.params).own("verdict", "hardware")
    done = [own.simulate_trace(model, run.trace, seed, lambda finding: None) for run in check.runs]
    return (
        f"Hardware {detector.name}: it agrees with the golden model in all "
        f"{sum(each.steps for each in done)} steps ({sum(each.cycles for each in done)} cycles)."
    )


@click.command("run")
@click.argument("program", metavar="PROGRAM", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@compile_options
@click.option("--kernel", default="", metavar="NAME", help="Check launches of this kernel only.")
@click.option(
    "--launches", metavar="A:B", help="Check launches A to B-1 only; launches count from 0."
)
@click.option(
    "--schedules", type=click.IntRange(min=1), default=1, show_default=True,
    help="Runs: the first with warps in turn, others with warps at random.",
)  # fmt: skip
@seed_option
@click.option(
    "--instruction-limit", metavar="N", type=click.IntRange(min=1),
    default=DEFAULT_INSTRUCTION_LIMIT, show_default=True,
    help="Warp instructions after which a launch is given up.",
)  # fmt: skip
@click.option(
    "--event-limit", metavar="N", type=click.IntRange(min=1), default=DEFAULT_EVENT_LIMIT,
    show_default=True, help="Events of the trace after which a launch is given up.",
)  # fmt: skip
@click.option(
    "--trace", "trace_file", metavar="FILE", type=OutputFile(),
    help="Also write the trace of the first run.",
)  # fmt: skip
@click.option(
    "--detector", "detector_name", metavar="PRESET", shell_complete=complete_preset,
    help="Also say what the detector PRESET makes of the races.",
)  # fmt: skip
@click.option(
    "--detector-only", is_flag=True,
    help="The verdict of the detector in the place of the exact one.  [preset: scord-nocache]",
)  # fmt: skip
@click.option(
    "--simulate", is_flag=True,
    help="Let the generated hardware of the detector take the traces, too, every step compared.",
)  # fmt: skip
@race_options
@report_options
@result_options
def command(
    program: str, arguments: tuple[str, ...], include: tuple[str, ...], define: tuple[str, ...],
    arch: int, std: str | None, kernel: str, launches: str | None, schedules: int, seed: int,
    instruction_limit: int, event_limit: int, trace_file: str | None, detector_name: str | None,
    detector_only: bool, simulate: bool, shows_all: bool, limit: int | None,
    json_file: str | None, **reports: Any,
) -> None:  # fmt: skip
    """Run PROGRAM, a CUDA program, without a GPU, and check all its launches for races.

    PROGRAM is a .cu file, which is compiled, or a program that was built with `-cudart shared`;
    both need the extra `cuda`.  Host code runs natively and kernels on the executor; what they
    do is checked by the exact analysis.  Exit status: 0 no race, 1 races or a fault of a kernel,
    2 bad input, 3 the program failed in another way, or hardware and golden model disagree.
    """
    with input_errors():
        selected = numbers_from("Launches", launches)
    wanted = Reports(**reports)
    known = wanted.baseline()
    detector = _detector(detector_name, detector_only or simulate)
    with executable(program, compiler_options(include, define, arch, std)) as path:
        # Imported while the program is compiled.
        from racetrap.presenters.findings import print_findings
        from racetrap.presenters.program_findings import check_to_dict, findings_of
        from racetrap.presenters.race_choice import RaceChoice
        from racetrap.sim.gpu.cuda.context import RunSettings
        from racetrap.sim.gpu.cuda.program_run import run_program
        from racetrap.verdict.gpu.oracle import JUDGE
        from racetrap.verdict.gpu.program_check import ProgramCheck
        from racetrap.verdict.gpu.trace_check import TraceCheck

        rule = None if detector_only else JUDGE
        check = ProgramCheck(TraceCheck(known, rule, detector))
        for number in range(schedules):
            with program_errors(), _output(number) as descriptor:
                settings = RunSettings(
                    scheduler="random" if number else "round-robin", seed=seed + number,
                    kernel=kernel, launches=selected, capability=arch, output=descriptor,
                    instruction_limit=instruction_limit, event_limit=event_limit,
                    watch=launch_bar,
                )  # fmt: skip
                run = run_program([path, *arguments], settings)
            with input_errors():
                check.add(run)
    with input_errors():
        check.require_selected(kernel, launches)
        if trace_file is not None:
            check.runs[0].trace.write_binary(trace_file)
    console = report_console()
    choice = RaceChoice(shows_all, limit)
    remarks = [_simulate(detector, check, seed)] if simulate and detector else []
    findings = findings_of(check, choice, remarks)
    print_findings(console, findings, choice)
    wanted.write(program, findings, check.traces.known)
    write_json(json_file, {
        "program": program, "arguments": list(arguments), "schedules": schedules, "seed": seed,
        **check_to_dict(check),
    })  # fmt: skip
    if check.has_findings:
        sys.exit(ExitStatus.RACES)
    sys.exit(ExitStatus.FAILED if check.status or check.problems else ExitStatus.NO_RACE)


@contextmanager
def _output(number: int) -> Iterator[int]:
    """Descriptor for what run ``number`` prints: only that of the first is shown."""
    if number:
        with open(os.devnull, "wb") as nowhere:
            yield nowhere.fileno()
    else:
        yield 2 if is_standard_output_taken() else 1
