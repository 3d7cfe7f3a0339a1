"""`racetrap doctor`: say which tools are missing, and what to do about each."""

from __future__ import annotations

import click

from racetrap.presenters.output import ExitStatus, json_option, report_console, write_json
from racetrap.sim.cosim.verilator.tools import missing_tools

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
