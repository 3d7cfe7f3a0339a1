"""Merges coverage of several runs: ``python -m racetrap.tb.coverage_report FILE...``.

A file is either the notes of a bench run (``notes.jsonl``) or a JSON object of hits by bin.
Prints every bin with its hits; exit status 3 if one was missed that can be hit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from racetrap.golden_model.scord.params import ScordParams
from racetrap.output import ExitStatus, fail, input_errors, print_table
from racetrap.tb.coverage import Coverage

__all__ = ["merge_files"]


def merge_files(paths: Iterable[Path]) -> Coverage:
    """Coverage of all files together; ``ValueError`` if one is not what it should be."""
    coverage = Coverage(ScordParams())
    coverage.counts.clear()
    for path in paths:
        for line in _documents(path):
            counts = line.get("coverage", {}) if path.suffix == ".jsonl" else line
            try:
                coverage.merge(counts)
            except (KeyError, TypeError) as error:
                raise ValueError(f"{path}: {error}") from None
    return coverage


def _documents(path: Path) -> list[dict]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)]


def _main() -> None:
    if len(sys.argv) == 1:
        fail("Coverage files must number at least 1, not 0")
    with input_errors():
        coverage = merge_files(map(Path, sys.argv[1:]))
    rows = coverage.table()
    print_table(Console(), "Functional coverage", ["bin", "hits", "remark"], rows)
    sys.exit(ExitStatus.FAILED if coverage.missed else ExitStatus.NO_RACE)


if __name__ == "__main__":
    _main()
