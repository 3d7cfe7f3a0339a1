"""`racetrap fpga build`: bitstream of a preset for a board."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import fail, input_errors, report_console, write_json
from racetrap.fpga.boards.build import build
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.generators.presets import configuration_name
from racetrap.presenters.tables import print_table


@click.command("build")
@click.argument("preset", metavar="PRESET")
@click.option("--board", "board_name", required=True, help="Board; see racetrap fpga boards.")
@options.setting
@options.seed
@options.output(
    "DIR", "Folder of the files.  [default: build/fpga/BOARD/PRESET; PRESET-HASH with --set]"
)
@options.result
def command(
    preset: str, board_name: str, settings: tuple[str, ...], seed: int, output: Path | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Build the bitstream of PRESET for a board.

    The board's own settings make the preset fit; --set changes them.  Exit status: 0 built, 2 bad
    input, 3 the preset does not fit or misses the clock, or a tool failed.
    """
    with input_errors():
        board = find_board(board_name)
        params = board_params(board, preset, settings)
    # The board's own settings do not change the name: they always apply.
    name = configuration_name(preset, params) if settings else preset
    folder = output or Path("build", "fpga", board_name, name)
    try:
        built = build(board, params, folder.resolve(), seed)
    except ValueError as error:
        fail(error)
    except OSError as error:
        fail(f"{folder}: {error.strerror or error}")
    console = report_console()
    rows = [(kind, used, available) for kind, (used, available) in built.utilization.items()]
    title = f"{preset} on {board.name} ({board.device}), seed {seed}"
    print_table(console, title, ["cells", "used", "available"], rows)
    console.print(
        f"Clock: {built.fmax:.1f} MHz reached, {built.constraint:g} MHz asked for; "
        f"{built.seconds:g} s.\nBitstream: {built.bitstream}",
        markup=False,
    )
    write_json(json_file, {
        "preset": preset, "board": board.name, "device": board.device,
        "parameters": asdict(params), **asdict(built), "bitstream": str(built.bitstream),
    })  # fmt: skip
