"""`racetrap coverage`: the functional coverage of several runs together."""

from __future__ import annotations

from pathlib import Path

import click

from racetrap.output import (
    ExitStatus,
    input_errors,
    json_option,
    print_table,
    report_console,
    write_json,
)
from racetrap.tb.coverage_report import merge_files

__all__ = ["command"]


@click.command("coverage")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=Path)
@json_option
def command(files: tuple[Path, ...], json_file: str | None) -> None:
    """Merge functional coverage and print every bin with its hits.

    FILE is the notes of a bench run (notes.jsonl) or a JSON object of hits by bin.  Exit status
    3 if a bin was missed that can be hit.
    """
    with input_errors():
        coverage = merge_files(files)
    print_table(
        report_console(json_file),
        "Functional coverage",
        ["bin", "hits", "remark"],
        coverage.table(),
    )
    write_json(json_file, {"bins": dict(coverage.counts), "missed": list(coverage.missed)})
    raise SystemExit(ExitStatus.FAILED if coverage.missed else ExitStatus.NO_RACE)
