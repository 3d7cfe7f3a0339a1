"""`racetrap coverage`: functional coverage of several runs together."""

from __future__ import annotations

from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.terminal import (
    ExitStatus,
    input_errors,
    report_console,
    write_json,
)
from racetrap.evaluation.campaign.coverage_report import merge_files
from racetrap.presenters.tables import print_table


@click.command("coverage")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=InputFile())
@options.result
def command(files: tuple[str, ...], json_file: str | None) -> None:
    """Merge functional coverage and print every bin with its hits.

    FILE holds the notes of a testbench run (notes.jsonl) or a JSON object of hits by bin.  Each
    detector has its own table.  Exit status 3 if a bin that can be hit has no hit, 2 if no file has
    any coverage.
    """
    with input_errors():
        merged = merge_files(map(Path, files))
        if not merged:
            raise ValueError("Files must have the coverage of at least one run")
    console = report_console()
    for system, coverage in merged.items():
        title = f"Functional coverage of {system}"
        print_table(console, title, ["bin", "hits", "remark"], coverage.table())
    missed = [name for coverage in merged.values() for name in coverage.missed]
    bins = {name: hits for coverage in merged.values() for name, hits in coverage.counts.items()}
    write_json(json_file, {"bins": bins, "missed": missed})
    raise SystemExit(ExitStatus.FAILED if missed else ExitStatus.NO_RACE)
