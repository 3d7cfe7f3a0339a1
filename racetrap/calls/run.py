"""Check of a whole CUDA program: its kernels on the executor, every launch checked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

from racetrap.calls.arguments import refusal
from racetrap.calls.checks.programs import executable, program_errors
from racetrap.calls.report import Report
from racetrap.calls.results import RunResult
from racetrap.commands.shared.reports import known_races
from racetrap.commands.shared.terminal import input_errors, launch_bar, progress_bar
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.cuda.nvcc_options import CUDA_SUFFIX, INPUT_SUFFIXES
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
    from racetrap.golden_model.trace import Trace
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.sim.gpu.instrumented.gpu import InstrumentedLaunches
    from racetrap.verdict.gpu.program_check import ProgramCheck
    from racetrap.verdict.gpu.trace_check import Detector


#: Subjects of a call: sources, built programs, and what is reported of any.
SOURCE, BUILT, REPORT = "a CUDA source", "a program that is built", "a report"


@dataclass(frozen=True)
class _Bounds:
    """Bounds of a program's run, which settings change."""

    instruction_limit: int = DEFAULT_INSTRUCTION_LIMIT
    event_limit: int = DEFAULT_EVENT_LIMIT


def run(
    program: str | Path, arguments: Sequence[str] = (), *, further: Sequence[str | Path] = (),
    compiler: CompilerOptions | None = None, lockstep: bool = False, on_gpu: bool = False,
    kernel: str = "", launches: range | None = None, share: float = 1.0,
    schedules: int | None = None, runs: int = MOST_SCHEDULES, seconds: float = SECONDS,
    seed: int = 1, settings: Sequence[str] = (),
    detector: str | None = None, rule: str | None = "causality", simulate: bool = False,
    baseline: str | Path | None = None, patch: str | Path | None = None, cures: bool = True,
    trace: str | Path | None = None, output: int | None = None, report: Report | None = None,
) -> RunResult:  # fmt: skip
    """Run a CUDA program without a GPU and check all its launches for races.

    Parameters
    ----------
    program : str or Path
        A CUDA source, an object or a library, or a program built by ``racetrap nvcc``.
    arguments : sequence of str
        Arguments of the program.
    further : sequence of str or Path
        Further sources, objects and libraries of the program.
    compiler : CompilerOptions, optional
        How sources are compiled.
    lockstep : bool
        Whether the lanes of a warp run together, as before Volta.
    on_gpu : bool
        Whether kernels run on this machine's GPU, and log their own accesses there.
    kernel : str
        Kernel whose launches are checked; by default all.
    launches : range, optional
        Numbers of the launches to check.
    share : float
        Share of the blocks whose ordinary accesses are checked; synchronisation of all is taken in.
    schedules : int, optional
        Number of runs; by default runs end when two in a row add nothing.
    runs, seconds : int, float
        Without ``schedules``: the largest number of runs, and the seconds within which they are
        to end, and after which no further edit is tried.
    seed : int
        Seed for all random choices.
    settings : sequence of str
        Changed parameters, as ``name=value``.
    detector : str, optional
        Preset of a detector that also checks the runs.
    rule : str or None
        Rule of the exact analysis that judges; without one the detector judges.
    simulate : bool
        Whether the traces also run on the detector's generated hardware.
    baseline : str or Path, optional
        File of known races.
    patch : str or Path, optional
        File for a patch that ends the races.
    cures : bool
        Whether to search for the edit that ends each race even without a patch.  There is no
        search for a built program, or with ``schedules=1``.
    trace : str or Path, optional
        File for the first run's trace.
    output : int, optional
        Descriptor for the output of the program's first run; by default the result has it.
    report : Report, optional
        Where findings are printed; by default the result has the text.

    Raises
    ------
    ValueError
        If the program cannot be compiled or run, or an argument is wrong.
    Failure
        If hardware and golden model disagree, or a tool fails.
    """
    report = report or Report(suits=refusal(run, locals()))
    with input_errors():
        report.suits(SOURCE if str(program).endswith(INPUT_SUFFIXES) else BUILT, REPORT)
    known = known_races(baseline)
    used, bounds = _detector(detector, rule is None or simulate, settings)
    files = [Path(program), *map(Path, further)]
    sources = [each for each in files if each.suffix == CUDA_SUFFIX]
    with input_errors():
        if patch is not None and not sources:
            raise ValueError(f"Patch must be of CUDA sources: run FILE.cu, not {program}")
        if on_gpu and lockstep:
            raise ValueError("Argument lockstep must be false with on_gpu, not true")
    with (
        _machine(on_gpu) as machine, _printed(output) as kept,
        executable(files, compiler) as (path, options),
    ):  # fmt: skip
        # Imported while the program is compiled.
        from racetrap.calls.checks.cures import add_cures
        from racetrap.presenters.findings import print_findings
        from racetrap.presenters.program_findings import check_to_dict, findings_of
        from racetrap.sim.gpu.cuda.context import RunSettings
        from racetrap.sim.gpu.cuda.program_run import run_program
        from racetrap.sim.gpu.oracle import OracleRule, RunningJudge
        from racetrap.verdict.gpu.cure.programs import program_sources
        from racetrap.verdict.gpu.program_check import ProgramCheck
        from racetrap.verdict.gpu.trace_check import TraceCheck

        check = ProgramCheck(TraceCheck(known, rule, used))
        search = ScheduleSearch(schedules, runs, seconds)

        needs_trace = simulate or used is not None or rule not in set(OracleRule)

        def settings_of(
            number: int, descriptor: int, *, is_judged: bool = False,
            logged: Collection[int] | None = None,
        ) -> RunSettings:  # fmt: skip
            is_kept = needs_trace or not is_judged or (trace is not None and not number)
            return RunSettings(
                scheduler=scheduler_of(number, "round-robin"), seed=seed + number,
                independent_threads=not lockstep, kernel=kernel, launches=launches, share=share,
                capability=options.capability, output=descriptor,
                instruction_limit=bounds.instruction_limit, event_limit=bounds.event_limit,
                watch=launch_bar, keeps_going=True, logged=logged, machine=machine,
                geometry=machine.geometry if machine else USUAL_GEOMETRY,
                make_judge=None
                if is_kept
                else partial(RunningJudge, OracleRule(str(rule)), not lockstep),
            )  # fmt: skip

        def again(number: int, logged: Collection[int] | None) -> Trace:
            with program_errors():
                settings = settings_of(number, nowhere.fileno(), logged=logged)
                return run_program([path, *arguments], settings).trace

        with open(os.devnull, "wb") as nowhere:
            for number in chain((0,), search.further(check.traces)):
                # Only the output of the first run is of use.
                descriptor = nowhere.fileno() if number else kept.fileno()
                with program_errors():
                    settings_now = settings_of(number, descriptor, is_judged=True)
                    done = run_program([path, *arguments], settings_now)
                with input_errors():
                    check.add(done, partial(again, number))
            cured = []
            # A program that must run once only has one schedule.
            looks = cures and sources and rule is not None and schedules != 1
            if patch is not None or (looks and check.traces.pairs):
                editable = program_sources(
                    sources, [path, *arguments], options,
                    lambda number: settings_of(number, nowhere.fileno()),
                )  # fmt: skip
                file = None if patch is None else str(patch)
                cured = add_cures(check.traces, editable, search.seconds_left, file)
        with input_errors():
            check.require_selected(kernel, launches)
            if trace is not None:
                check.runs[0].trace.write_binary(trace)
        remarks = [_simulate(used, check, seed)] if simulate and used else []
        findings = findings_of(check, report.choice, [*remarks, *cured])
        print_findings(report.console, findings, report.choice)
        document = {
            "program": str(program), "arguments": [*map(str, further), *arguments],
            "schedules": len(check.runs), "seed": seed, **check_to_dict(check),
        }  # fmt: skip
        return RunResult(
            document=document, text=report.text, subject=str(program), findings=findings,
            known=check.traces.known, output="" if output is not None else _text(kept),
            status=check.status, problems=check.problems,
        )  # fmt: skip


def _detector(
    preset: str | None, is_needed: bool, settings: Sequence[str]
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


@contextmanager
def _machine(is_gpu: bool) -> Iterator[InstrumentedLaunches | None]:
    """What runs the kernels: a GPU, or by default the executor."""
    if not is_gpu:
        yield None
        return
    from racetrap.sim.gpu.instrumented.gpu import InstrumentedLaunches
    from racetrap.sim.gpu.instrumented.gpu_process import GpuProcess

    with input_errors():
        gpu = GpuProcess()
    with closing(gpu):
        yield InstrumentedLaunches(gpu)


@contextmanager
def _printed(output: int | None) -> Iterator[IO[bytes]]:
    """Where the program's output goes: a descriptor, or a file that is kept for the result."""
    with tempfile.TemporaryFile() if output is None else open(output, "wb", closefd=False) as file:
        yield file


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
