"""`racetrap fpga run`: a trace on a board, compared with the golden model."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.fpga.boards.identity import identify
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.session import Session
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEMS, check_reads, system_of
from racetrap.golden_model.trace import AnyTrace, read_trace
from racetrap.presenters.race_choice import RaceChoice


@click.command("run")
@click.argument("trace_file", metavar="TRACE", type=InputFile())
@click.option("--port", required=True, metavar="DEVICE", help="Serial port of the board.")
@click.option(
    "--baud", type=click.IntRange(min=1), default=3_000_000, show_default=True,
    help="Bits per second on the serial port.",
)  # fmt: skip
@click.option(
    "--detector", metavar="PRESET[:BOARD]",
    help="Preset that the board must have, with the settings of `fpga build` for BOARD.  [default: "
    "what the board reports]",
)  # fmt: skip
@options.setting
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=0.25, show_default=True,
    help="Seconds after which a request without a reply is sent again.",
)  # fmt: skip
@options.limit
@options.result
def command(
    trace_file: str, port: str, baud: int, detector: str | None,
    settings: tuple[str, ...], timeout: float, choice: RaceChoice, json_file: str | None,
) -> None:  # fmt: skip
    """Stream the trace file TRACE to a board and compare its reports with the golden model.

    A trace of a GPU needs a board with a detector for GPUs, a trace of threads one with SigRace,
    and a trace of a CPU and its accelerators one with the bus monitor.  For SigRace, --set also
    changes `environment` (mapping of threads to cores) and `instruction_limit`.

    Exit status: 0 no race, 1 races found, 2 bad input, 3 board and golden model disagree, no board
    answers, its configuration differs, or the connection was lost.
    """
    with input_errors():
        trace = read_trace(trace_file)
        settings, run = _run_settings(trace, settings)
        wanted = _wanted(detector, settings)
    with HostLink(port, baud, timeout) as link:
        name, params = wanted or identify(link.hello())
        with input_errors():
            check_reads(params, type(trace))
        session = Session(link, params, name)
        console = report_console()
        choice = replace(choice, has_json=json_file is not None)
        where = f"{name} on {port}"
        with input_errors(trace_file):
            count, result = (
                system_of(params)
                .own("commands.shared.detectors")
                .stream_trace(session, params, trace, run, choice, where, console)
            )
    write_json(json_file, {
        "trace": given_name(trace_file), "configuration": name, "parameters": asdict(params),
        "port": port, "events": len(trace), **result,
        "line": {"requests": link.requests, "resends": link.resends},
    })  # fmt: skip
    exit_on(count)


def _run_settings(trace: AnyTrace, settings: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """Settings of the configuration, and those of the run of such a trace."""
    system = next(each for each in SYSTEMS if each.trace is type(trace))
    run = system.own("commands.shared.detectors").RUN
    names = {field.name for field in fields(run)}
    own = [each for each in settings if each.partition("=")[0] in names]
    return tuple(each for each in settings if each not in own), with_settings(run, own)


def _wanted(detector: str | None, settings: tuple[str, ...]) -> tuple[str, Params] | None:
    """Configuration that the user names, and its name; None to accept the device's."""
    if detector is None:
        if settings:
            raise ValueError(
                f"Setting {settings[0]} is of a configuration: name it with --detector"
            )
        return None
    preset, _, board_name = detector.partition(":")
    if not board_name:
        params = with_settings(find_preset(preset).params, settings)
        # Boards have no trace port: it would need thousands of pins.
        return " ".join([preset, *settings]), replace(params, trace_port=False)
    name = " ".join([preset, "on", board_name, *settings])
    return name, board_params(find_board(board_name), preset, settings)
