"""`racetrap doctor`: missing tools and how to install them."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import ExitStatus, report_console, write_json
from racetrap.sim.tools import has_hardware, missing_extras, missing_tools


@click.command("doctor")
@options.result
def command(json_file: str | None) -> None:
    """Check that every tool is installed.

    Prints each missing tool and how to install it.  Exit status 3 if checks, or the installed extra
    `hardware`, need one of them; tools of other extras and of recording are also listed.
    """
    extras, generates = missing_extras(), has_hardware()
    missing = missing_tools(*["hardware"] * generates)
    what = "checks, generation and simulation" if generates else "checks"
    console = report_console()
    for sentence in [*missing, *extras]:
        console.print(sentence, markup=False)
    if not missing:
        console.print("Nothing is missing" + f" for {what}" * bool(extras) + ".")
    write_json(json_file, {"missing": missing, "missing_extras": extras})
    raise SystemExit(ExitStatus.FAILED if missing else ExitStatus.NO_RACE)
