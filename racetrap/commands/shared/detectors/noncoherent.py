"""The bus monitor in the commands that run hardware: `simulate` and `fpga run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.settings import PlainRun
from racetrap.commands.shared.simulation import Simulation, Suite
from racetrap.commands.shared.terminal import input_errors, progress_bar
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.presenters import noncoherent_races
from racetrap.presenters.board_runs import accelerator_run_to_dict, print_accelerator_run
from racetrap.presenters.race_choice import RaceChoice
from racetrap.verdict.accelerators.hardware import check_memory, races_of

if TYPE_CHECKING:
    from racetrap.fpga.host.session import Session


#: Options and forms of `simulate` that apply to a trace, but not to every stimulus.
TRACE_OPTIONS = ("choice", "all_signals", "output", ".fst", ".vcd")
RUN = PlainRun()
SUITES: Mapping[str, Suite] = MappingProxyType({})


def simulate_trace(
    call: Simulation, path: str, trace: NoncoherentTrace
) -> tuple[int, dict[str, Any]]:
    """Play a trace and print its races; return their number and the JSON document."""
    from racetrap.verdict.accelerators.hardware import simulate_trace

    with input_errors(path):
        check_memory(call.params, trace)
    races = noncoherent_races.monitor_race_list(call.console, call.choice, trace)
    with input_errors(path):
        found = simulate_trace(call.build(), trace, call.seed, races.take)
    races.finish()
    call.console.print(
        f"Races: {races.count} in {len(trace)} operations; hardware and golden model agree in all "
        f"{found.rows} rows ({found.cycles} cycles, {found.compactions} merges in full sets)."
    )
    call.write_waves("play_trace", {"trace": str(Path(path).resolve())})
    return races.count, {**asdict(found), "races": races.json}


def stream_trace(
    session: Session, params: Any, trace: NoncoherentTrace, settings: PlainRun, choice: RaceChoice,
    where: str, console: Console,
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Stream a trace to a board, compare and print the races; return their number and the JSON."""
    from racetrap.fpga.noncoherent.run import run_operations

    races = noncoherent_races.monitor_race_list(console, choice, trace)
    check_memory(params, trace)
    with progress_bar("Streaming", len(trace)) as update:
        run = run_operations(session, params, trace, lambda number: update(completed=number))
    for race in races_of(params, run.steps, 0):
        races.take(race)
    print_accelerator_run(console, where, trace, races, run)
    return races.count, accelerator_run_to_dict(races, run)
