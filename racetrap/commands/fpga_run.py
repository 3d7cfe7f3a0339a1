"""`racetrap fpga run`: a trace on a board, compared with the golden model."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.options import (
    environment_option,
    race_options,
    result_options,
    set_option,
)
from racetrap.commands.shared.stimuli import (
    THREAD_TRACE,
    check_options,
    check_system,
    kind_of,
)
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    progress,
    progress_bar,
    report_console,
    write_json,
)
from racetrap.evaluation.noncoherent.hardware import MonitorRace, check_memory, races_of
from racetrap.evaluation.scord.detect import check_fit, region_of
from racetrap.evaluation.scord.findings import Finding, find_races
from racetrap.fpga.boards.identity import identify
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.line import Line
from racetrap.fpga.host.noncoherent_run import run_operations
from racetrap.fpga.host.scord_board import monitored_region
from racetrap.fpga.host.scord_run import check_reports, run_trace
from racetrap.fpga.host.session import Session
from racetrap.fpga.host.sigrace_run import run_program
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace, read_trace
from racetrap.presenters import noncoherent_races, scord_races, sigrace_races
from racetrap.presenters.board_runs import (
    accelerator_run_to_dict,
    gpu_run_to_dict,
    print_accelerator_run,
    print_gpu_run,
    print_thread_run,
    thread_run_to_dict,
)
from racetrap.presenters.race_choice import RaceChoice, RaceList
from racetrap.sim.cosim.comparison.mismatch import Mismatch

__all__ = ["command"]


@click.command("run")
@click.argument("trace_file", metavar="TRACE", type=InputFile())
@click.option("--port", required=True, metavar="DEVICE", help="Serial port of the board.")
@click.option(
    "--baud", type=click.IntRange(min=1), default=3_000_000, show_default=True,
    help="Bits a second on the serial port.",
)  # fmt: skip
@click.option(
    "--preset", "preset_name",
    help="Preset that the board must have.  [default: what the board says it is]",
)  # fmt: skip
@click.option("--board", "board_name", help="Board with whose settings the preset was built.")
@set_option
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=0.25, show_default=True,
    help="Seconds after which a request without a reply is sent again.",
)  # fmt: skip
@environment_option
@race_options
@result_options
def command(
    trace_file: str, port: str, baud: int, preset_name: str | None, board_name: str | None,
    settings: tuple[str, ...], timeout: float, environment: str, shows_all: bool,
    limit: int | None, json_file: str | None,
) -> None:  # fmt: skip
    """Stream the trace file TRACE to a board and compare what it finds with the golden model.

    A trace of a GPU is for a board with ScoRD, one of a program with threads for SigRace, one of
    a CPU and its accelerators for the bus monitor.

    Exit status: 0 no race, 1 races found, 2 bad input, 3 board and golden model disagree, no
    board answers, it has another configuration, or it was lost.
    """
    with input_errors():
        trace = read_trace(trace_file)
        check_options({"environment": [THREAD_TRACE]}, kind_of(trace))
        wanted = _wanted(preset_name, board_name, settings)
    with HostLink(port, baud, timeout) as link:
        hello, before = link.hello(), Line.read(link)
        name, params = wanted or identify(hello)
        with input_errors():
            check_system(params, trace.header.system, "this trace")
        session = Session(link, params, name)
        console = report_console()
        choice = RaceChoice(shows_all, limit, json_file is not None)
        where = f"{name} on {port}"
        with input_errors(trace_file):
            if isinstance(trace, Trace):
                races: RaceList[Any] = scord_races.race_list(console, choice)
                result = _run_gpu(session, params, trace, races, where, console)
            elif isinstance(trace, NoncoherentTrace):
                races = noncoherent_races.monitor_race_list(console, choice, trace)
                result = _run_accelerators(session, params, trace, races, where, console)
            else:
                races = sigrace_races.race_list(console, choice, trace.header)
                result = _run_threads(session, params, trace, environment, races, where, console)
        line = Line.read(link).since(before)
    write_json(json_file, {
        "trace": given_name(trace_file), "configuration": name, "parameters": asdict(params),
        "port": port, "events": len(trace), **result, "line": line,
    })  # fmt: skip
    exit_on(races.count)


def _wanted(
    preset: str | None, board_name: str | None, settings: tuple[str, ...]
) -> tuple[str, Params] | None:
    """Configuration that the user names, and its name; None if it is up to the device."""
    if preset is None:
        if board_name is not None or settings:
            raise ValueError("Options --board and --set must come with --preset")
        return None
    if board_name is None:
        params = with_settings(find_preset(preset).params, settings)
        # Boards have no trace port: its pins would be thousands.
        return " ".join([preset, *settings]), replace(params, trace_port=False)
    name = " ".join([preset, "on", board_name, *settings])
    return name, board_params(find_board(board_name), preset, settings)


def _run_gpu(
    session: Session, params: Any, trace: Trace, races: RaceList[Finding], where: str,
    console: Console,
) -> dict[str, Any]:  # fmt: skip
    """Stream a trace, compare and print the races; what JSON says of them."""
    check_fit(trace, params)
    region = monitored_region(session, params, region_of(trace))
    _, found = find_races(trace, params, region)
    findings = list(found)
    run = run_trace(session, params, region, progress(trace, "Streaming", len(trace)))
    if difference := check_reports(params, (finding.report for finding in findings), run):
        raise Mismatch(difference)
    races.take_all(findings)
    print_gpu_run(console, where, trace, races, run)
    return gpu_run_to_dict(races, run)


def _run_accelerators(
    session: Session, params: Any, trace: NoncoherentTrace, races: RaceList[MonitorRace],
    where: str, console: Console,
) -> dict[str, Any]:  # fmt: skip
    """As ``_run_gpu``, of a CPU and its accelerators."""
    check_memory(params, trace)
    with progress_bar("Streaming", len(trace)) as update:
        run = run_operations(session, params, trace, lambda number: update(completed=number))
    for race in races_of(params, run.steps, 0):
        races.take(race)
    print_accelerator_run(console, where, trace, races, run)
    return accelerator_run_to_dict(races, run)


def _run_threads(
    session: Session, params: Any, trace: ThreadTrace, environment: str,
    races: RaceList[ThreadRace], where: str, console: Console,
) -> dict[str, Any]:  # fmt: skip
    """As ``_run_gpu``, of a program with threads."""
    sigrace = Sigrace(params, Environment(environment))
    with progress_bar("Streaming", len(trace)) as update:
        run = run_program(session, sigrace, trace, lambda number: update(completed=number))
    print_thread_run(console, where, trace, races, run)
    return thread_run_to_dict(races, environment, run)
