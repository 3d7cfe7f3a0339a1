"""`racetrap cache clear`: removal of cached builds and results."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import report_console, write_json
from racetrap.sim.cache_inventory import SWEEPS, holdings, remove

_KINDS = ("built", "old", "all")


@click.command("clear")
@click.argument("what", type=options.Choice(_KINDS), default="built")
@options.result
def command(what: str, json_file: str | None) -> None:
    """Remove cached builds and results, which can be made again.

    The argument is `built`, for everything but measured points of sweeps (the default); `old`, for
    what other versions of racetrap left; or `all`.
    """
    removed = 0
    for holding in holdings():
        if (what == "all" or holding.kind != SWEEPS) and (holding.is_old or what != "old"):
            remove(holding)
            removed += holding.bytes
    report_console().print(f"Removed: {removed:,} bytes")
    write_json(json_file, {"removed_bytes": removed})
