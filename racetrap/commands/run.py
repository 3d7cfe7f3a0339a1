"""`racetrap run`: a whole CUDA program, its kernels on the executor, every launch checked."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from racetrap.calls.report import Report
from racetrap.calls.run import BUILT, REPORT, SOURCE, run
from racetrap.commands.shared import options
from racetrap.commands.shared.former_names import WORDS
from racetrap.commands.shared.input_files import NamedFiles
from racetrap.commands.shared.output_files import is_standard_output_taken
from racetrap.commands.shared.reports import CURES, FINDINGS, Reports, baseline_option
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import (
    ExitStatus,
    input_errors,
    report_console,
    write_json,
)
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.gpu.cuda.nvcc_options import INPUT_SUFFIXES
from racetrap.verdict.gpu.schedules import MOST_SCHEDULES, SECONDS

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions


class Selected(NamedTuple):
    """What is checked: a kernel, launches by number, a share of the blocks."""

    kernel: str
    launches: range | None
    share: float


def _selected(launches: tuple[str | range | float, ...]) -> Selected:
    kernels = [each for each in launches if isinstance(each, str)]
    ranges = [each for each in launches if isinstance(each, range)]
    shares = [each for each in launches if isinstance(each, float)]
    if max(len(kernels), len(ranges), len(shares)) > 1:
        raise ValueError(
            "Option --launches must name one kernel, one range and one percentage at most, not more"
        )
    return Selected("".join(kernels), next(iter(ranges), None), next(iter(shares), 1.0))


def _further(arguments: tuple[str, ...]) -> list[str]:
    """Inputs of the compiler before the program's arguments."""
    words = click.get_current_context().meta.get(WORDS, ())
    own = len(words) - words.index("--") - 1 if "--" in words else 0
    return list(
        takewhile(lambda word: word.endswith(INPUT_SUFFIXES), arguments[: len(arguments) - own])
    )


class _Launches(click.ParamType):
    """Name of a kernel, a range of launch numbers, or a percentage of the blocks."""

    name = "launches"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | range | float:
        if isinstance(value, range | float) or not value[:1].isdecimal():
            return value
        if value.endswith("%") and value[:-1].isdecimal() and 0 < int(value[:-1]) <= 100:
            return int(value[:-1]) / 100
        try:
            return options.numbers_from("Launches", value) or value
        except ValueError as error:
            self.fail(str(error), param, ctx)


_SOURCE = Subject(SOURCE, ("compiler",))
_REPORT = Subject(REPORT, ("own_code", "baseline_file", "no_cures"), "report")


@click.command("run", cls=SubjectCommand, subjects=(_SOURCE, _REPORT))
@options.compiler
@click.argument("program", metavar="PROGRAM...", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@options.lockstep_or_gpu
@click.option(
    "--launches", metavar="NAME|A:B|P%", multiple=True, type=_Launches(),
    help="Check launches of the kernel NAME only, or launches A to B-1, counted from 0, or of each "
    "launch the ordinary accesses of P percent of its blocks; together, what matches all.",
)  # fmt: skip
@click.option(
    "--schedules", type=click.IntRange(min=1),
    help="Number of runs: first with warps in turn, then with the newest first, then at random.  "
    "[default: until two in a row add nothing]",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(),
    default=f"{MOST_SCHEDULES},{SECONDS:g}s", show_default=True,
    help="Without --schedules, make at most N runs, and begin none that would end after T "
    "seconds, by the time of the one before.  No further edit is tried then, either.",
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
@options.no_cures
@form_files(
    Form(".trace", "the trace of the first run", to_standard_output=False), CURES, *FINDINGS
)
@options.result
def command(
    program: str, arguments: tuple[str, ...], compiler: CompilerOptions, lockstep: bool | None,
    launches: tuple[str | range | float, ...], schedules: int | None,
    budget: options.Budget, seed: int, settings: tuple[str, ...], detector: str | None,
    oracle: str, simulate: bool,
    choice: RaceChoice, notes: bool, baseline_file: str | None, no_cures: bool,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Run PROGRAM, a CUDA program, without a GPU, and check all its launches for races.

    PROGRAM is CUDA sources, also with C and C++ sources, objects and static libraries, or a program
    built by `racetrap nvcc`; both need the extra `cuda`.  Host code runs natively, kernels run on
    the executor or, with --on-gpu, on a GPU, and the exact analysis checks their accesses.  Exit
    status: 0 no race, 1 races or a kernel fault, 2 bad input, 3 the program failed in another way,
    or hardware and golden model disagree.
    """
    with input_errors():
        require_suitable(SOURCE if program.endswith(INPUT_SUFFIXES) else BUILT, REPORT)
        selected = _selected(launches)
    further = _further(arguments) if program.endswith(INPUT_SUFFIXES) else []
    reports = Reports(output)
    result = run(
        program, arguments[len(further) :], further=further, compiler=compiler,
        lockstep=lockstep is True, on_gpu=lockstep is False, **selected._asdict(),
        schedules=schedules, runs=budget.count or MOST_SCHEDULES,
        seconds=budget.seconds or SECONDS, seed=seed, settings=settings, detector=detector,
        rule=None if oracle == options.NO_RULE else oracle,
        simulate=simulate, baseline=baseline_file, patch=output.get(".patch"),
        cures=not no_cures, trace=output.get(".trace"),
        output=2 if is_standard_output_taken() else 1,
        report=Report(report_console(), replace(choice, shows_notes=notes)),
    )  # fmt: skip
    reports.write(program, result.findings, result.known)
    write_json(json_file, result.document)
    if result.has_findings:
        sys.exit(ExitStatus.RACES)
    sys.exit(ExitStatus.FAILED if result.status or result.problems else ExitStatus.NO_RACE)
