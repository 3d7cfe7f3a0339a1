"""`racetrap run`: a whole CUDA program, its kernels on the executor, every launch checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import NamedFiles
from racetrap.commands.shared.output_files import is_standard_output_taken
from racetrap.commands.shared.programs import executable, program_errors
from racetrap.commands.shared.reports import CURES, FINDINGS, Reports, baseline_option
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import (
    ExitStatus,
    input_errors,
    launch_bar,
    progress_bar,
    report_console,
    write_json,
)
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.gpu.executor.machine.limits import (
    DEFAULT_EVENT_LIMIT,
    DEFAULT_INSTRUCTION_LIMIT,
)
from racetrap.verdict.gpu.schedules import (
    MOST_SCHEDULES,
    SECONDS,
    ScheduleSearch,
    scheduler_of,
)

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
    from racetrap.verdict.gpu.program_check import ProgramCheck
    from racetrap.verdict.gpu.trace_check import Detector


def _detector(
    preset: str | None, is_needed: bool, settings: tuple[str, ...]
) -> tuple[Detector | None, _Bounds]:
    """The detector, if any, and the bounds, both with their settings."""
    bounds = _Bounds()
    if preset is None and not is_needed and not settings:
        return None, bounds
    # The hardware is slow to import.
    from racetrap.generators.presets import chosen_params, with_all_settings
    from racetrap.golden_model.trace import Trace
    from racetrap.verdict.gpu.trace_check import MOST_FINDING, Detector

    name = preset or MOST_FINDING
    with input_errors():
        if preset is None and not is_needed:
            (bounds,) = with_all_settings(settings, bounds)
            return None, bounds
        params, bounds = chosen_params(name, settings, Trace, bounds)
    return Detector(name, params), bounds


def _selected(launches: tuple[str | range, ...]) -> tuple[str, range | None]:
    """Kernel and launch numbers to check."""
    kernels = [each for each in launches if isinstance(each, str)]
    ranges = [each for each in launches if isinstance(each, range)]
    if len(kernels) > 1 or len(ranges) > 1:
        raise ValueError("Option --launches must name one kernel and one range at most, not more")
    return "".join(kernels), next(iter(ranges), None)


def _simulate(detector: Detector, check: ProgramCheck, seed: int) -> str:
    """Play all traces on the hardware; return a sentence on how much was compared."""
    from racetrap.generators.systems import system_of
    from racetrap.sim.cosim.fast.build import build_fast

    with input_errors():
        if not detector.params.trace_port:
            raise ValueError("Parameter trace_port must be true to compare steps, not false")
    own, params = system_of(detector.params).own("verdict", "hardware"), detector.params
    independent = any(run.trace.header.independent_threads for run in check.runs)
    with progress_bar("Building"):
        model = build_fast(detector.name, params.with_lanes(independent))
    done = [own.simulate_trace(model, run.trace, seed, lambda finding: None) for run in check.runs]
    return (
        f"Hardware {detector.name}: it agrees with the golden model in all "
        f"{sum(each.steps for each in done)} steps ({sum(each.cycles for each in done)} cycles)."
    )


@dataclass(frozen=True)
class _Bounds:
    """Bounds of a program's run, which ``--set`` changes."""

    instruction_limit: int = DEFAULT_INSTRUCTION_LIMIT
    event_limit: int = DEFAULT_EVENT_LIMIT


class _Launches(click.ParamType):
    """Name of a kernel, or a range of launch numbers."""

    name = "launches"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | range:
        if isinstance(value, range) or not value[:1].isdecimal():
            return value
        try:
            return options.numbers_from("Launches", value) or value
        except ValueError as error:
            self.fail(str(error), param, ctx)


_SOURCE = Subject("a CUDA source", ("include", "define", "std"), "compiler")
_REPORT = Subject("a report", ("own_code", "baseline_file"), "report")


@click.command("run", cls=SubjectCommand, subjects=(_SOURCE, _REPORT))
@click.argument("program", metavar="PROGRAM...", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@options.compiler
@options.lockstep
@click.option(
    "--launches", metavar="NAME|A:B", multiple=True, type=_Launches(),
    help="Check launches of the kernel NAME only, or launches A to B-1, counted from 0; with both, "
    "launches that match both.",
)  # fmt: skip
@click.option(
    "--schedules", type=click.IntRange(min=1),
    help="Number of runs: warps in turn, the newest first, then at random.  [default: until two in "
    "a row add nothing]",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(),
    default=f"{MOST_SCHEDULES},{SECONDS:g}s", show_default=True,
    help="Without --schedules: N runs at most, and seconds after which none begins.",
)  # fmt: skip
@options.seed
@options.setting
@options.detector("Also show which of the races the detector PRESET reports.")
@options.oracle(others=(options.NO_RULE,))
@click.option(
    "--simulate", is_flag=True,
    help="Also run the traces on the detector's generated hardware and compare every step.",
)  # fmt: skip
@options.own_code
@options.limit
@options.notes
@baseline_option
@form_files(
    Form(".trace", "the trace of the first run", to_standard_output=False), CURES, *FINDINGS
)
@options.result
def command(
    program: str, arguments: tuple[str, ...], compiler: CompilerOptions, lockstep: bool,
    launches: tuple[str | range, ...], schedules: int | None, budget: options.Budget, seed: int,
    settings: tuple[str, ...], detector: str | None, oracle: str, simulate: bool,
    choice: RaceChoice, notes: bool, baseline_file: str | None, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Run PROGRAM, a CUDA program, without a GPU, and check all its launches for races.

    PROGRAM is one or more .cu files, or a program built with `-cudart shared`; both need the extra
    `cuda`.  Host code runs natively, kernels run on the executor, and the exact analysis checks
    their accesses.  Exit status: 0 no race, 1 races or a kernel fault, 2 bad input, 3 the program
    failed in another way, or hardware and golden model disagree.
    """
    with input_errors():
        is_source = program.endswith(".cu")
        require_suitable(_SOURCE.name if is_source else "a program that is built", _REPORT.name)
        kernel, selected = _selected(launches)
        if ".patch" in output and not program.endswith(".cu"):
            raise ValueError(f"Patch must be of CUDA sources: run FILE.cu, not {program}")
    wanted = Reports(baseline_file, output)
    known, console = wanted.baseline(), report_console()
    used, bounds = _detector(detector, oracle == options.NO_RULE or simulate, settings)
    sources = list(takewhile(lambda word: word.endswith(".cu"), arguments))
    further = sources if program.endswith(".cu") else []
    arguments = arguments[len(further) :]
    with executable(program, compiler, *further) as path:
        # Imported while the program is compiled.
        from racetrap.commands.shared.cures import write_cures
        from racetrap.presenters.findings import print_findings
        from racetrap.presenters.program_findings import check_to_dict, findings_of
        from racetrap.sim.gpu.cuda.context import RunSettings
        from racetrap.sim.gpu.cuda.program_run import run_program
        from racetrap.verdict.gpu.cure.programs import program_sources
        from racetrap.verdict.gpu.program_check import ProgramCheck
        from racetrap.verdict.gpu.trace_check import TraceCheck

        rule = None if oracle == options.NO_RULE else oracle
        check = ProgramCheck(TraceCheck(known, rule, used))
        search = ScheduleSearch(
            schedules, budget.count or MOST_SCHEDULES, budget.seconds or SECONDS
        )  # fmt: skip

        def settings_of(number: int, descriptor: int) -> RunSettings:
            return RunSettings(
                scheduler=scheduler_of(number, "round-robin"), seed=seed + number,
                independent_threads=not lockstep, kernel=kernel, launches=selected,
                capability=compiler.capability, output=descriptor,
                instruction_limit=bounds.instruction_limit, event_limit=bounds.event_limit,
                watch=launch_bar,
            )  # fmt: skip

        for number in chain((0,), search.further(check.traces)):
            with program_errors(), _output(number) as descriptor:
                run = run_program([path, *arguments], settings_of(number, descriptor))
            with input_errors():
                check.add(run)
        cured = []
        if (patch := output.get(".patch")) is not None:
            files = [Path(program), *map(Path, further)]
            with _output(1) as nowhere:
                editable = program_sources(
                    files, [path, *arguments], compiler,
                    lambda number: settings_of(number, nowhere),
                )  # fmt: skip
                cured = write_cures(check.traces, editable, patch)
    with input_errors():
        check.require_selected(kernel, selected)
        if (trace_file := output.get(".trace")) is not None:
            check.runs[0].trace.write_binary(trace_file)
    remarks = [_simulate(used, check, seed)] if simulate and used else []
    remarks += cured
    choice = replace(choice, shows_notes=notes)
    findings = findings_of(check, choice, remarks)
    print_findings(console, findings, choice)
    wanted.write(program, findings, check.traces.known)
    write_json(json_file, {
        "program": program, "arguments": list(arguments), "schedules": len(check.runs),
        "seed": seed, **check_to_dict(check),
    })  # fmt: skip
    if check.has_findings:
        sys.exit(ExitStatus.RACES)
    sys.exit(ExitStatus.FAILED if check.status or check.problems else ExitStatus.NO_RACE)


@contextmanager
def _output(number: int) -> Iterator[int]:
    """Descriptor for the output of run ``number``: only that of the first is shown."""
    if number:
        with open(os.devnull, "wb") as nowhere:
            yield nowhere.fileno()
    else:
        yield 2 if is_standard_output_taken() else 1
