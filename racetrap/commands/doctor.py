"""`racetrap doctor`: missing tools, and how to get them."""

from __future__ import annotations

import click

from racetrap.commands.shared.options import json_option
from racetrap.commands.shared.terminal import ExitStatus, report_console, write_json
from racetrap.sim.tools import missing_tools

__all__ = ["command"]


@click.command("doctor")
@json_option
def command(json_file: str | None) -> None:
    """Check that every tool that generation and simulation need is there.

    Prints one sentence with its remedy for each missing one; exit status 3 if there is any.
    """
    missing = missing_tools()
    console = report_console(json_file)
    for sentence in missing:
        console.print(sentence, markup=False)
    if not missing:
        console.print("Nothing is missing.")
    write_json(json_file, {"missing": missing})
    raise SystemExit(ExitStatus.FAILED if missing else ExitStatus.NO_RACE)
