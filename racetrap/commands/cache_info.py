"""`racetrap cache info`: folder and size of the cache."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import report_console, write_json
from racetrap.presenters.tables import print_table
from racetrap.sim.cache_inventory import holdings
from racetrap.sim.content_cache import cache_folder


@click.command("info")
@options.result
def command(json_file: str | None) -> None:
    """Show the cache's folder and the size of each kind of content."""
    found, console = holdings(), report_console()
    console.print(f"Folder: {cache_folder()}", markup=False)
    rows = [(each.version, each.kind, each.bytes) for each in found]
    total = sum(each.bytes for each in found)
    columns = ("version", "kind", "bytes")
    print_table(console, "Cache", columns, [*rows, ("total", "", total)])
    write_json(json_file, {
        "folder": str(cache_folder()),
        "bytes": total,
        "holdings": [
            {"version": each.version, "kind": each.kind, "bytes": each.bytes} for each in found
        ],
    })  # fmt: skip
