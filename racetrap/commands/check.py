"""`racetrap check`: races of a trace or a kernel, by the golden model alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from racetrap.calls.check import EXACT, KERNEL, RUNS, SOURCE, check
from racetrap.calls.report import Report
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.reports import CURES, FINDINGS, Reports, baseline_option
from racetrap.commands.shared.result_forms import form_files
from racetrap.commands.shared.settings import ACCELERATOR_SETTINGS, THREAD_SETTINGS
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import exit_on, report_console, write_json
from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace
from racetrap.presenters.race_choice import RaceChoice
from racetrap.verdict.gpu.schedules import SECONDS

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions

_DETECTED = ("detector", "settings", "choice")
_GPU = Subject(Trace.kind, (*_DETECTED, "notes", "oracle", "own_code"), "gpu")
_KERNEL = Subject(
    KERNEL,
    (*_DETECTED, "notes", "oracle", "own_code", "launch_file", "lockstep", "memory", "budget"),
    "gpu",
)
_SOURCE = Subject(SOURCE, ("compiler", "-arch", "no_cures"), "gpu")
_THREADS = Subject(ThreadTrace.kind, (*_DETECTED, "compare"), "threads", THREAD_SETTINGS)
_EXACT = Subject(EXACT, ("choice", "exact", "fail_fast", "suppressed"), "threads")
_ACCELERATORS = Subject(
    NoncoherentTrace.kind, ("settings", "compare", "notes"), "accelerator", ACCELERATOR_SETTINGS
)


@click.command(
    "check", cls=SubjectCommand,
    subjects=(_GPU, _KERNEL, _SOURCE, _THREADS, _EXACT, _ACCELERATORS),
)  # fmt: skip
@options.compiler
@click.argument("path", metavar="TRACE|KERNEL", type=InputFile())
@options.launch(required=False)
@options.lockstep
@options.detector(
    "Detector to check with.  [default: for a GPU scord-nocache, which misses the fewest races; "
    "for threads sigrace]"
)
@options.setting
@options.own_code
@options.limit
@options.notes
@options.oracle(others=(options.NO_RULE,))
@click.option(
    "--compare", is_flag=True,
    help="Also list the races that an exact analysis finds in the same run.",
)  # fmt: skip
@click.option(
    "--memory", type=options.Choice(options.MEMORY_MODELS),
    help="Also try to expose each race under a weak memory model: views (PTX's), or "
    "write-buffers (the Bugaroo paper's).",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(), default=f"{RUNS},{SECONDS:g}s",
    show_default=True,
    help="Begin no further schedule of a kernel that would end after T seconds, and try no further "
    "edit then; with --memory, make N runs for each race, the first with the seed of the launch "
    "file.",
)  # fmt: skip
@click.option(
    "--exact", is_flag=True,
    help="Check threads by an exact analysis instead of a detector.  It shows each pair of "
    "instructions that races, with locks and allocation, and lock-order inversions, and checks "
    "millions of events a second.",
)  # fmt: skip
@click.option("--fail-fast", is_flag=True, help="Stop at the first race.")
@click.option(
    "--suppress", "suppressed", metavar="FILE", type=InputFile(),
    help="Hide races that match a line of FILE: a pattern of places (bank.c:*), or two of them.",
)  # fmt: skip
@baseline_option
@options.no_cures
@form_files(CURES, *FINDINGS)
@options.result
def command(
    path: str, launch_file: str | None, compiler: CompilerOptions, lockstep: bool,
    detector: str | None, settings: tuple[str, ...], choice: RaceChoice, notes: bool, oracle: str,
    compare: bool, memory: str | None, budget: options.Budget, exact: bool, fail_fast: bool,
    suppressed: str | None, baseline_file: str | None, no_cures: bool, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Check the trace file TRACE, or a run of KERNEL, for races.

    KERNEL is a .cu or .ptx file, run as its launch file says: --launch, or the .toml file of the
    same name beside it.  TRACE - is standard input.  The exact analysis judges runs of a
    GPU, and each race also shows the detector's result.  The detector judges threads, or with
    --exact an exact analysis does.  Races of a CPU with accelerators are printed with their bytes
    and a remedy; --notes adds what each cache operation and wait prevents.

    Exit status: 0 no race, 1 races or other findings, such as a fault of KERNEL, 2 bad input.
    """
    reports = Reports(output)
    choice = replace(choice, has_json=json_file is not None, shows_notes=notes)
    result = check(
        path, launch=launch_file, compiler=compiler, lockstep=lockstep, detector=detector,
        settings=settings, rule=None if oracle == options.NO_RULE else oracle, compare=compare,
        memory=memory, runs=budget.count or RUNS, seconds=budget.seconds or SECONDS, exact=exact,
        fail_fast=fail_fast, suppressed=suppressed, baseline=baseline_file,
        patch=output.get(".patch"), cures=not no_cures,
        report=Report(report_console(), choice, require_suitable),
    )  # fmt: skip
    reports.write(result.subject, result.findings, result.known)
    write_json(json_file, result.document)
    exit_on(result.has_findings)
