"""`racetrap doctor`: missing tools, and how to get them."""

from __future__ import annotations

import click

from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import ExitStatus, report_console, write_json
from racetrap.sim.tools import missing_extras, missing_tools


@click.command("doctor")
@result_options
def command(json_file: str | None) -> None:
    """Check that every tool is there.

    Prints one sentence with its remedy for each missing one.  Exit status 3 if generation or
    simulation needs one of them; extras and what recording needs are named, too.
    """
    missing, extras = missing_tools(), missing_extras()
    console = report_console()
    for sentence in [*missing, *extras]:
        console.print(sentence, markup=False)
    if not missing:
        console.print("Nothing is missing" + " for generation and simulation" * bool(extras) + ".")
    write_json(json_file, {"missing": missing, "missing_extras": extras})
    raise SystemExit(ExitStatus.FAILED if missing else ExitStatus.NO_RACE)
