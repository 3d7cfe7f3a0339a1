"""Merges the coverage of several runs.

A file is either the notes of a bench run (``notes.jsonl``) or a JSON object of hits by bin.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from racetrap.golden_model.scord.params import ScordParams
from racetrap.tb.scord.coverage import Coverage

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
