"""`racetrap fpga`: boards, their bitstreams, and traces on a board."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import click

from racetrap.commands.stimulus_options import THREAD_TRACE, check_options, kind_of
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS
from racetrap.golden_model.trace import read_trace
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    print_table,
    report_console,
    set_option,
    write_json,
)

__all__ = ["command"]


@contextmanager
def _with_extra() -> Iterator[None]:
    """Say what to install if a package of the extra is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        fail(
            f"Package {error.name} was not found: install the extra `racetrap[fpga]`",
            ExitStatus.FAILED,
        )


@click.group("fpga")
def command() -> None:
    """Build bitstreams for boards, and run traces on a board over its serial port."""


@command.command("boards")
@json_option
def boards(json_file: str | None) -> None:
    """List the boards, and the presets that fit on each."""
    from racetrap.fpga.boards.table import BOARDS

    rows = [
        (
            board.name, board.summary, board.device, board.clock_mhz, board.baud, preset,
            " ".join(settings),
        )
        for board in BOARDS.values()
        for preset, settings in board.settings.items()
    ]  # fmt: skip
    columns = ["board", "what it is", "device", "MHz", "baud", "preset", "settings"]
    console = report_console(json_file)
    # A row is worth reading whole: it is not squeezed into a narrow terminal.
    console.width = max(console.width, 150)
    print_table(console, "Boards and what fits on them", columns, rows)
    write_json(json_file, [
        {**asdict(replace(board, settings={})), "settings": dict(board.settings)}
        for board in BOARDS.values()
    ])  # fmt: skip


@command.command("build")
@click.argument("preset_name", metavar="PRESET")
@click.option("--board", "board_name", required=True, help="Board; see racetrap fpga boards.")
@set_option
@click.option("--seed", default=1, show_default=True, help="Seed of placement.")
@click.option(
    "--out", "folder", type=click.Path(file_okay=False, path_type=Path),
    help="Folder of all files.  [default: build/fpga/BOARD/PRESET]",
)  # fmt: skip
@json_option
def build(
    preset_name: str, board_name: str, settings: tuple[str, ...], seed: int, folder: Path | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Build the bitstream of PRESET for a board.

    The board's own settings make the preset fit; --set changes them.  Exit status: 0 built,
    2 bad input, 3 it does not fit, misses its clock, or a tool failed.
    """
    from racetrap.fpga.boards.build import BoardError  # platforms are slow to import
    from racetrap.fpga.boards.build import build as build_bitstream
    from racetrap.fpga.boards.table import board_params, find_board

    with input_errors():
        board = find_board(board_name)
        params = board_params(board, preset_name, settings)
    folder = folder or Path("build", "fpga", board_name, preset_name)
    try:
        with _with_extra():
            built = build_bitstream(board, params, folder.resolve(), seed)
    except ValueError as error:
        fail(error)
    except OSError as error:
        fail(f"{folder}: {error.strerror or error}")
    except BoardError as error:
        fail(error, ExitStatus.FAILED)
    console = report_console(json_file)
    rows = [(kind, used, available) for kind, (used, available) in built.utilization.items()]
    title = f"{preset_name} on {board.name} ({board.device}), seed {seed}"
    print_table(console, title, ["cells", "used", "available"], rows)
    console.print(
        f"Clock: {built.fmax:.1f} MHz reached, {built.constraint:g} MHz asked for; "
        f"{built.seconds:g} s.\nBitstream: {built.bitstream}",
        markup=False,
    )
    write_json(json_file, {
        "preset": preset_name, "board": board.name, "device": board.device,
        "parameters": asdict(params), **asdict(built), "bitstream": str(built.bitstream),
    })  # fmt: skip


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
    from racetrap.fpga.boards.table import board_params, find_board

    board = find_board(board_name)
    name = " ".join([preset, "on", board_name, *settings])
    return name, board_params(board, preset, settings)


@command.command("run")
@click.argument("trace_file", metavar="TRACE")
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
@click.option(
    "--environment", type=click.Choice(ENVIRONMENTS), default="fixed", show_default=True,
    help="How threads are put on cores.",
)  # fmt: skip
@json_option
def run(
    trace_file: str, port: str, baud: int, preset_name: str | None, board_name: str | None,
    settings: tuple[str, ...], timeout: float, environment: str, json_file: str | None,
) -> None:  # fmt: skip
    """Stream the trace file TRACE to a board and compare what it finds with the golden model.

    A trace of a GPU is for a board with ScoRD, one of a program with threads for SigRace.

    Exit status: 0 no race, 1 races found, 2 bad input, 3 board and golden model disagree, no
    board answers, it has another configuration, or it was lost.
    """
    with input_errors():
        trace = read_trace(trace_file)
        check_options({"environment": [THREAD_TRACE]}, kind_of(trace))
        wanted = _wanted(preset_name, board_name, settings)
    with _with_extra():
        from racetrap.commands.fpga_run import (
            run_on_board,  # the serial port is not needed elsewhere
        )

    run_on_board(trace_file, trace, port, baud, timeout, wanted, environment, json_file)
