"""`racetrap simulate`: hardware and golden model together, every step compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.options import (
    complete_preset,
    environment_option,
    instruction_limit_option,
    jobs_option,
    race_options,
    result_options,
    seed_option,
    set_option,
    size_option,
    waves_option,
)
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.stimuli import (
    ACCELERATOR_TRACE,
    GPU_TRACE,
    THREAD_TRACE,
    check_options,
    check_system,
    kind_of,
)
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    progress_bar,
    report_console,
    write_file,
    write_json,
)
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.noncoherent.hardware import check_memory
from racetrap.evaluation.scord.detect import check_fit, check_geometry, region_of
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.scord.params import LINE_BYTES
from racetrap.golden_model.scord.region_table import RegionTable, table_of
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import AnyTrace, NoncoherentTrace, ThreadTrace, Trace, read_trace
from racetrap.presenters import noncoherent_races, scord_races, sigrace_races
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.failure import Failure

__all__ = ["command"]

#: Suites, with the system that each is for.
_SUITES = {"scor-micro": "scord", "scor-apps": "scord", "threads": "sigrace"}
_MICRO, _APPLICATIONS, _PROGRAMS = (f"the suite {name}" for name in _SUITES)
#: Options that are not for every stimulus.
_STIMULI = {
    "schedules": [_MICRO, _APPLICATIONS],
    "size": [_APPLICATIONS, _PROGRAMS],
    "environment": [_PROGRAMS, THREAD_TRACE],
    "instruction_limit": [THREAD_TRACE],
    "shows_all": [GPU_TRACE, THREAD_TRACE, ACCELERATOR_TRACE],
    "limit": [GPU_TRACE, THREAD_TRACE, ACCELERATOR_TRACE],
    "all_signals": [_MICRO, GPU_TRACE, THREAD_TRACE, ACCELERATOR_TRACE],
    "regions": [GPU_TRACE],
    "waves": [_MICRO, GPU_TRACE, THREAD_TRACE, ACCELERATOR_TRACE],
    "jobs": [_MICRO, _APPLICATIONS, _PROGRAMS],
    "junit_file": [_MICRO],
}


@dataclass(frozen=True)
class _Call:
    """What was asked for, as the options say."""

    preset: str
    params: Any
    console: Console
    seed: int
    schedules: int
    size: str
    environment: str
    instruction_limit: int
    waves: Path | None
    all_signals: bool
    shows_all: bool
    limit: int | None
    has_json: bool
    jobs: int
    junit_file: str | None
    regions: tuple[str, ...]

    @property
    def choice(self) -> RaceChoice:
        """The races that are shown."""
        return RaceChoice(self.shows_all, self.limit, self.has_json)

    def build(self) -> FastModel[Any]:
        with progress_bar("Building"):
            return build_fast(self.preset, self.params)

    def write_waves(self, case: str, plan: dict[str, Any]) -> None:
        if self.waves is not None:
            # cocotb is slow to import.
            from racetrap.commands.shared.testbench import write_waves

            write_waves(
                self.console, self.preset, self.params, case, plan, self.seed, self.waves,
                self.all_signals,
            )  # fmt: skip


@click.command("simulate")
@click.argument("preset", metavar="PRESET", shell_complete=complete_preset)
@click.argument("trace_file", metavar="[TRACE]", required=False, type=InputFile())
@click.option("--suite", type=click.Choice(list(_SUITES)), help="Run a suite instead of a trace.")
@seed_option
@click.option(
    "--schedules", type=click.IntRange(min=0), default=4, show_default=True,
    help="Random schedules of each micro-benchmark, besides the fixed ones; or all schedules "
    "of each application.",
)  # fmt: skip
@size_option
@environment_option
@instruction_limit_option
@waves_option
@click.option(
    "--region", "regions", metavar="BASE:BYTES", multiple=True,
    help="Monitor these bytes instead of the trace's region; may be repeated, up to the "
    "parameter regions.",
)  # fmt: skip
@click.option(
    "--junit", "junit_file", metavar="FILE", type=OutputFile(to_standard_output=True),
    help="Write the suite's verdicts as JUnit.",
)  # fmt: skip
@race_options
@jobs_option
@set_option
@result_options
def command(
    preset: str, trace_file: str | None, suite: str | None, settings: tuple[str, ...],
    json_file: str | None, **options: Any,
) -> None:  # fmt: skip
    """Simulate PRESET with the trace file TRACE, or with a suite, and compare every step.

    The hardware runs on the fast co-simulation, in the order of the trace.  Exit status with a
    trace: 0 no race, 1 races found.  With a suite: 0 if every verdict is as expected.  Always:
    2 bad input, 3 hardware and golden model disagree or a tool failed.
    """
    if (trace_file is None) == (suite is None):
        raise click.UsageError("Give either a TRACE or --suite.")
    with input_errors():
        params: Params = with_settings(find_preset(preset).params, settings)
        call = _Call(preset, params, report_console(), has_json=json_file is not None, **options)
        trace = None if trace_file is None else read_trace(trace_file)
        _check(call, trace, suite)
    known = {"preset": preset, "parameters": asdict(params), "seed": call.seed}
    if trace is not None:
        races, document = _simulate_trace(call, trace_file or "", trace)
        name = given_name(trace_file or "")
        write_json(json_file, {"trace": name, **known, "events": len(trace), **document})
        exit_on(races)
    suites = {
        "scor-micro": _micro_benchmarks, "scor-apps": _applications, "threads": _programs
    }  # fmt: skip
    document, problems = suites[suite or ""](call)
    write_json(json_file, {**known, **document})
    if problems:
        raise problems[0]


def _check(call: _Call, trace: AnyTrace | None, suite: str | None) -> None:
    """Refuse a preset of one detector, and options, for the stimulus of the other."""
    if not call.params.trace_port:
        raise ValueError("Parameter trace_port must be true to compare steps, not false")
    if trace is not None:
        check_system(call.params, trace.header.system, "this trace")
        check_options(_STIMULI, kind_of(trace))
    elif suite is not None:
        check_system(call.params, _SUITES[suite], suite)
        check_options(_STIMULI, f"the suite {suite}")
    if suite == "threads" and call.size == "paper":
        raise ValueError("Option --size must be tiny or small for threads, not paper")
    if suite == "scor-apps" and call.schedules < 1:
        raise ValueError("Option --schedules must be at least 1 for scor-apps, not 0")


def _simulate_trace(call: _Call, path: str, trace: AnyTrace) -> tuple[int, dict[str, Any]]:
    """Play a trace and print its races; how many, and what JSON says of them."""
    plan: dict[str, Any] = {"trace": str(Path(path).resolve())}
    if isinstance(trace, Trace):
        with input_errors():
            table = _table(call)
        with input_errors(path):
            if table is None:
                check_fit(trace, call.params)
            check_geometry(trace.header.geometry, call.params)
        races, document = _gpu_trace(call, trace, table)
        plan["region"] = asdict(region_of(trace))
    elif isinstance(trace, NoncoherentTrace):
        with input_errors(path):
            check_memory(call.params, trace)
            races, document = _accelerator_trace(call, trace)
    else:
        with input_errors(path):
            races, document = _thread_hardware_trace(call, trace)
        plan["environment"] = {"name": call.environment}
    call.write_waves("play_trace", plan)
    return races, document


def _table(call: _Call) -> RegionTable | None:
    """Regions that the options name, their metadata one after the other."""
    if not call.regions:
        return None
    if call.waves is not None:
        raise ValueError("Option --waves must come without --region")
    parts = []
    for text in call.regions:
        found = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+):(0x[0-9a-fA-F]+|\d+)", text)
        if not found:
            raise ValueError(f"Option --region must be BASE:BYTES, not {text}")
        base, size = (int(word, 0) for word in found.groups())
        if size % LINE_BYTES or not size:
            raise ValueError(
                f"Option --region must be of whole lines of {LINE_BYTES} bytes, not {size}"
            )
        parts.append((base, size // LINE_BYTES))
    return table_of(call.params, parts, 0)


def _gpu_trace(call: _Call, trace: Trace, table: RegionTable | None) -> tuple[int, dict[str, Any]]:
    from racetrap.evaluation.scord.hardware import simulate_trace

    races = scord_races.race_list(call.console, call.choice)
    found = simulate_trace(call.build(), trace, call.seed, races.take, table)
    scord_races.print_kinds(call.console, races)
    call.console.print(
        f"Races: {races.count} in {len(trace)} events; hardware and golden model agree in "
        f"all {found.steps} steps ({found.cycles} cycles)."
    )
    if found.left_out is not None:
        call.console.print(scord_races.left_out_sentence(call.preset, found.left_out))
    return races.count, {**asdict(found), "races": races.json}


def _thread_hardware_trace(call: _Call, trace: ThreadTrace) -> tuple[int, dict[str, Any]]:
    from racetrap.presenters.suites import machine_run_to_dict
    from racetrap.sim.cosim.sigrace.machine import run_program

    sigrace = Sigrace(
        call.params, Environment(call.environment), instruction_limit=call.instruction_limit
    )
    run = run_program(call.build(), sigrace, trace, call.seed)
    races = sigrace_races.race_list(call.console, call.choice, trace.header)
    words = sigrace_races.print_result(call.console, races, run.result, trace.header)
    call.console.print(
        f"Races: {words} in {len(trace)} events; hardware and golden model agree in all "
        f"{run.events} steps of the cores, {run.rdm_steps} of the RDM and {run.analysed} in "
        f"Analysis ({run.cycles} cycles)."
    )
    return races.count, {
        "environment": call.environment, **machine_run_to_dict(run), "races": races.json
    }  # fmt: skip


def _accelerator_trace(call: _Call, trace: NoncoherentTrace) -> tuple[int, dict[str, Any]]:
    from racetrap.evaluation.noncoherent.hardware import simulate_trace

    races = noncoherent_races.monitor_race_list(call.console, call.choice, trace)
    found = simulate_trace(call.build(), trace, call.seed, races.take)
    races.finish()
    call.console.print(
        f"Races: {races.count} in {len(trace)} operations; hardware and golden model agree in all "
        f"{found.rows} rows ({found.cycles} cycles, {found.compactions} merges for want of room)."
    )
    return races.count, {**asdict(found), "races": races.json}


_Outcome = tuple[dict[str, Any], Sequence[Failure]]


def _micro_benchmarks(call: _Call) -> _Outcome:
    """Run and print the suite; what JSON says of it, and what is wrong."""
    from racetrap.evaluation.scord.micro_benchmarks import MicroBenchmarkRuns, run_micro_benchmark
    from racetrap.presenters.junit import junit_text
    from racetrap.presenters.suites import print_micro_benchmarks
    from racetrap.sim.cosim.scord.suite import suite_runs
    from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
    from racetrap.sim.gpu.suites.micro.program import program_region

    with input_errors():
        program_region().check(call.params)
        list(suite_runs(call.params, call.schedules, call.seed))
    model = call.build()
    runs = [MicroBenchmarkRuns(model, name, call.schedules, call.seed) for name in MICRO_BENCHMARKS]
    verdicts = run_parallel(run_micro_benchmark, runs, call.jobs, "Simulating")
    print_micro_benchmarks(call.console, verdicts, call.preset, call.seed)
    problems: list[Failure] = [
        Mismatch(f"{each.name}, {each.difference}") for each in verdicts if each.difference
    ]
    failure = str(problems[0]) if problems else None
    cases = {each.name: each.problem for each in verdicts}
    write_file(call.junit_file, lambda: junit_text(f"scor-micro.{call.preset}", cases))
    problems += [
        Failure(f"Verdict on {each.name} must be {each.expected}, not wrong with {each.wrong[0]}")
        for each in verdicts
        if each.wrong
    ]
    if not problems:
        call.write_waves("play_suite", {"schedules": call.schedules})
    return {"failure": failure, "benchmarks": [each.to_json() for each in verdicts]}, problems


def _applications(call: _Call) -> _Outcome:
    """As ``_micro_benchmarks``."""
    from racetrap.evaluation.scord.applications import application_runs, application_verdicts
    from racetrap.evaluation.scord.programs import GEOMETRY
    from racetrap.evaluation.scord.runs import run_build
    from racetrap.presenters.suites import print_applications

    with input_errors():
        check_geometry(GEOMETRY, call.params)
    runs = application_runs(call.build(), call.size, call.schedules, call.seed)
    verdicts = application_verdicts(run_parallel(run_build, runs, call.jobs, "Simulating"))
    print_applications(call.console, verdicts, call.size, call.preset, call.seed)
    problems = [
        Failure(f"Verdict on {each.build.program} ({each.build.label}) must be {each.expected}")
        for each in verdicts
        if not each.is_right
    ]
    return {"size": call.size, "builds": [each.to_json() for each in verdicts]}, problems


def _programs(call: _Call) -> _Outcome:
    """As ``_micro_benchmarks``; SigRace may miss races, but report none that is not there."""
    from racetrap.evaluation.sigrace.hardware import ProgramSimulation, simulate_program
    from racetrap.presenters.suites import print_programs, program_to_dict
    from racetrap.sim.cpu.programs.catalogue import PROGRAMS

    model = call.build()
    runs = [
        ProgramSimulation(model, name, call.size, call.environment, call.seed) for name in PROGRAMS
    ]
    programs = run_parallel(simulate_program, runs, call.jobs, "Simulating")
    print_programs(call.console, programs, call.size, call.preset, call.seed)
    problems = [Failure(each.failure) for each in programs if each.failure]
    problems += [
        Failure(f"Races reported in {each.program} must be the oracle's, not {each.unreal} others")
        for each in programs
        if each.unreal
    ]
    return {
        "size": call.size, "environment": call.environment,
        "programs": list(map(program_to_dict, programs)),
    }, problems  # fmt: skip
