"""`racetrap simulate` of a SigRace preset: a trace or the programs, on the fast co-simulation.

The hardware does what the whole machine does: collects, compares, has its conflicts rolled back,
and traps the accesses that Analysis looks for; every step is compared with the golden model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from racetrap.commands.testbench_run import bench_failure, fail_with_rerun, run_bench, say_waves
from racetrap.commands.worker_pool import worker_pool
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.playback import Environment
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.presenters.output import ExitStatus, fail, print_table, report_console, write_json
from racetrap.presenters.sigrace_races import (
    by_static_race,
    print_statistics,
    print_thread_races,
    statistics_to_dict,
    thread_race_to_dict,
)
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.machine import MachineRun, run_program
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.cocotb_build import BuildError
from racetrap.sim.cosim.verilator.tools import missing_tools
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

__all__ = ["run_programs", "run_thread_trace"]

_TESTS = "racetrap.tb.sigrace.play_tests"
_WORKERS = 2
#: The table is not squeezed into a narrow terminal.
_TABLE_WIDTH = 150


def _model(preset: str, params: SigraceParams) -> FastModel[SigraceParams]:
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    try:
        return build_fast(preset, params)
    except BuildError as error:
        fail(error, ExitStatus.FAILED)


def _run_to_dict(run: MachineRun) -> dict[str, Any]:
    result = run.result
    return {
        "core_events": run.events,
        "messages": run.messages,
        "rdm_steps": run.rdm_steps,
        "analysed_events": run.analysed,
        "cycles": run.cycles,
        "conflicts": result.conflicts,
        "false_positives": result.false_positives,
        "static": len(by_static_race(result.races)),
        "dynamic": len(result.races),
        "statistics": statistics_to_dict(result.statistics),
    }


def run_thread_trace(
    preset: str,
    params: SigraceParams,
    path: str,
    trace: ThreadTrace,
    environment: str,
    seed: int,
    waves: bool,
    json_file: str | None,
) -> NoReturn:
    """Run a trace, print its races and leave.

    For waves the trace is played once more, on the testbench.

    Exit status 0 if there is none, 1 if there are, 2 if the trace does not fit the preset, 3 if
    hardware and golden model disagree or a tool fails.
    """
    model = _model(preset, params)
    try:
        run = run_program(model, Sigrace(params, Environment(environment)), trace, seed)
    except ValueError as error:
        fail(f"{path}: {error}")
    except (Mismatch, SimulationError) as error:
        fail(f"Hardware and golden model disagree: {error}", ExitStatus.FAILED)
    console, locations, result = report_console(json_file), trace.header.locations, run.result
    print_thread_races(console, result.races, locations)
    print_statistics(console, result)
    console.print(
        f"Races: {len(by_static_race(result.races))} static, {len(result.races)} dynamic in "
        f"{len(trace)} events; hardware and golden model agree in all {run.events} steps of the "
        f"cores, {run.rdm_steps} of the RDM and {run.analysed} in Analysis ({run.cycles} cycles)."
    )
    if waves:
        plan = {"trace": str(Path(path).resolve()), "environment": {"name": environment}}
        played = run_bench(preset, params, _TESTS, "play_trace", plan, seed, waves)
        if failure := bench_failure(played):
            fail_with_rerun(failure, played, seed)
        say_waves(console, played, waves)
    write_json(json_file, {
        "trace": path, "preset": preset, "parameters": asdict(params), "seed": seed,
        "environment": environment, "events": len(trace), **_run_to_dict(run),
        "races": [thread_race_to_dict(race, locations) for race in result.races],
    })  # fmt: skip
    raise SystemExit(ExitStatus.RACES if result.races else ExitStatus.NO_RACE)


def _run_of_program(
    name: str, size: str, model: FastModel[SigraceParams], environment: str, seed: int
) -> dict[str, Any]:
    """A program's run; in ``failure`` why there is none, since a worker cannot end the command."""
    trace = program_trace(name, size, model.params.threads)
    document: dict[str, Any] = {"program": name, "events": len(trace)}
    try:
        run = run_program(model, Sigrace(model.params, Environment(environment)), trace, seed)
    except (Mismatch, SimulationError, ValueError) as error:
        return document | {"failure": f"{name}: {error}"}
    exact = HappensBefore().run(trace)
    found = {race.static_key for race in run.result.races}
    unreal = found - exact.static
    if exact.is_complete:
        unreal |= {race.static_key for race in set(run.result.races) - set(exact.races)}
    return document | {
        "failure": None, "exact": len(exact.static), "unreal": len(unreal), **_run_to_dict(run),
    }  # fmt: skip


def _run_all(
    size: str,
    model: FastModel[SigraceParams],
    environment: str,
    seed: int,
    pool: Executor,
    done: Callable[[], None],
) -> list[dict[str, Any]]:
    futures = [
        pool.submit(_run_of_program, name, size, model, environment, seed) for name in PROGRAMS
    ]
    for future in futures:
        future.add_done_callback(lambda _: done())
    return [future.result() for future in futures]


def _print(title: str, runs: Iterable[dict[str, Any]], json_file: str | None) -> None:
    columns = [
        "program", "trace events", "core steps", "messages", "RDM steps", "analysed", "cycles",
        "conflicts", "races (static)", "exact", "not real",
    ]  # fmt: skip
    keys = (
        "program", "events", "core_events", "messages", "rdm_steps", "analysed_events", "cycles",
        "conflicts", "static", "exact", "unreal",
    )  # fmt: skip
    rows = [[run[key] for key in keys] for run in runs if run["failure"] is None]
    console = report_console(json_file)
    console.width = max(console.width, _TABLE_WIDTH)
    print_table(console, title, columns, rows)


def run_programs(
    preset: str, params: SigraceParams, size: str, environment: str, seed: int,
    json_file: str | None,
) -> NoReturn:  # fmt: skip
    """Run every program, print what was compared and found, and leave.

    A race that SigRace reports must be one by the exact detector, too; SigRace may miss some.
    Exit status 0 if so everywhere, 3 if hardware and golden model disagree, a report is not real
    or a tool fails.
    """
    model = _model(preset, params)
    try:
        with worker_pool(_WORKERS, "Simulating", len(PROGRAMS)) as (pool, done):
            runs = _run_all(size, model, environment, seed, pool, done)
    except RecordError as error:
        fail(error, ExitStatus.FAILED)
    _print(f"Programs with threads, {size}, on {preset}, seed {seed}", runs, json_file)
    write_json(json_file, {
        "preset": preset, "parameters": asdict(params), "size": size, "seed": seed,
        "environment": environment, "programs": runs,
    })  # fmt: skip
    for run in runs:
        if run["failure"] is not None:
            fail(run["failure"], ExitStatus.FAILED)
        if run["unreal"]:
            fail(
                f"Races reported in {run['program']} must all be real, not all but {run['unreal']}",
                ExitStatus.FAILED,
            )
    raise SystemExit(ExitStatus.NO_RACE)
