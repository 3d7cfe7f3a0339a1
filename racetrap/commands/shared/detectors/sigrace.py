"""SigRace in the commands that run hardware: `simulate` and `fpga run`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.simulation import Simulation, Suite, SuiteOutcome
from racetrap.commands.shared.terminal import input_errors, progress_bar
from racetrap.commands.shared.workers import run_parallel
from racetrap.golden_model.sigrace.run_settings import HardwareRun
from racetrap.golden_model.trace import ThreadTrace
from racetrap.presenters import sigrace_races
from racetrap.presenters.board_runs import print_thread_run, thread_run_to_dict
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.failure import Failure

if TYPE_CHECKING:
    from racetrap.fpga.host.session import Session


#: Options and forms of `simulate` that apply to a trace, but not to every stimulus.
TRACE_OPTIONS = ("choice", "all_signals", "output", ".fst", ".vcd")
RUN = HardwareRun()


def simulate_trace(call: Simulation, path: str, trace: ThreadTrace) -> tuple[int, dict[str, Any]]:
    """Play a trace and print its races; return their number and the JSON document."""
    from racetrap.presenters.suites import machine_run_to_dict
    from racetrap.sim.cosim.sigrace.machine import run_program

    with input_errors(path):
        sigrace = call.run.sigrace(call.params)
        sigrace.check_program(trace)  # before the build
        run = run_program(call.build(), sigrace, trace, call.seed)
    races = sigrace_races.race_list(call.console, call.choice, trace.header)
    sigrace_races.print_result(call.console, races, run.result, trace.header)
    call.console.print(
        f"Races: {sigrace_races.race_count(run.result.races)} in {len(trace)} events; hardware and "
        f"golden model agree in all {run.events} steps of the cores, {run.rdm_steps} of the RDM "
        f"and {run.analysed} in Analysis ({run.cycles} cycles)."
    )
    call.write_waves(
        "play_trace",
        {"trace": str(Path(path).resolve()), "environment": {"name": call.run.environment}},
    )
    return races.count, {
        "environment": call.run.environment, **machine_run_to_dict(run), "races": races.json
    }  # fmt: skip


def _programs(call: Simulation) -> SuiteOutcome:
    """As ``_micro_benchmarks``; SigRace may miss races, but must report no false ones."""
    from racetrap.evaluation.sigrace.hardware import ProgramSimulation, simulate_program
    from racetrap.presenters.suites import print_programs, program_to_dict
    from racetrap.sim.cpu.programs.catalogue import PROGRAMS

    model = call.build()
    runs = [
        ProgramSimulation(model, name, call.size, call.run.environment, call.seed)
        for name in PROGRAMS
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
        "size": call.size, "environment": call.run.environment,
        "programs": list(map(program_to_dict, programs)),
    }, problems  # fmt: skip


def _check_programs(call: Simulation) -> None:
    if call.size == "paper":
        raise ValueError("Option --size must be tiny or small for threads, not paper")


SUITES: Mapping[str, Suite] = MappingProxyType({
    "threads": Suite(_programs, ("size",), _check_programs),
})  # fmt: skip


def stream_trace(
    session: Session, params: Any, trace: ThreadTrace, settings: HardwareRun, choice: RaceChoice,
    where: str, console: Console,
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Stream a trace to a board, compare and print the races; return their number and the JSON."""
    from racetrap.fpga.sigrace.run import run_program

    races = sigrace_races.race_list(console, choice, trace.header)
    sigrace = settings.sigrace(params)
    with progress_bar("Streaming", len(trace)) as update:
        run = run_program(session, sigrace, trace, lambda number: update(completed=number))
    print_thread_run(console, where, trace, races, run)
    return races.count, thread_run_to_dict(races, settings.environment, run)
