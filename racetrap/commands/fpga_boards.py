"""`racetrap fpga boards`: boards and what fits on them."""

from __future__ import annotations

from dataclasses import asdict, replace

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import report_console, write_json
from racetrap.fpga.boards.table import BOARDS
from racetrap.presenters.tables import print_table


@click.command("boards")
@options.result
def command(json_file: str | None) -> None:
    """List the boards, and the presets that fit on each."""
    rows = [
        (
            board.name, board.summary, board.device, board.clock_mhz, str(board.baud), preset,
            " ".join(settings),
        )
        for board in BOARDS.values()
        for preset, settings in board.settings.items()
    ]  # fmt: skip
    columns = ["board", "description", "device", "MHz", "baud", "preset", "settings"]
    print_table(report_console(), "Boards and what fits on them", columns, rows)
    write_json(json_file, [
        {**asdict(replace(board, settings={})), "settings": dict(board.settings)}
        for board in BOARDS.values()
    ])  # fmt: skip
