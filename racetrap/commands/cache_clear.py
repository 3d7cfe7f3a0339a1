"""`racetrap cache clear`: removal of what was built and measured before."""

from __future__ import annotations

import click

from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import report_console, write_json
from racetrap.sim.cache_inventory import SWEEPS, holdings, remove


@click.command("clear")
@click.option("--old", is_flag=True, help="Only what other versions of racetrap have left.")
@click.option("--sweeps", is_flag=True, help="Also the points that sweeps have measured.")
@result_options
def command(old: bool, sweeps: bool, json_file: str | None) -> None:
    """Remove what can be made again, and nothing that the cache has not made."""
    removed = 0
    for holding in holdings():
        if (sweeps or holding.kind != SWEEPS) and (holding.is_old or not old):
            remove(holding)
            removed += holding.bytes
    report_console().print(f"Removed: {removed:,} bytes")
    write_json(json_file, {"removed_bytes": removed})
