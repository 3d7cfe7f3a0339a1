"""Coverage of several runs together, of any of the detectors.

A file is either the notes of a testbench run (``notes.jsonl``) or a JSON object of hits by bin.
Bins of different detectors have different names, so hits show whose they are; notes name it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.scord import coverage_bins as scord
from racetrap.sim.cosim.sigrace import coverage_bins as sigrace

__all__ = ["merge_files"]

_MODELS = {"scord": scord, "sigrace": sigrace}


def merge_files(paths: Iterable[Path]) -> dict[str, BinCounts]:
    """Coverage of all files together, by system; only systems that a file is of.

    Raises
    ------
    ValueError
        If a file is not what it should be.
    """
    merged: dict[str, BinCounts] = {}
    for path in paths:
        try:
            for system, counts in _documents(path):
                bins = _MODELS[system]
                if system not in merged:
                    merged[system] = BinCounts(bins.BINS, bins.UNREACHABLE)
                merged[system].merge(counts)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: {error}") from None
    return merged


def _documents(path: Path) -> list[tuple[str, Mapping[str, int]]]:
    """Hits in a file, each with its system."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".jsonl":
        counts = json.loads(text)
        return [(_system_of(counts), counts)]
    notes = [json.loads(line) for line in text.splitlines()]
    named = next((note["system"] for note in notes if "system" in note), None)
    found = [note["coverage"] for note in notes if "coverage" in note]
    return [(named or _system_of(counts), counts) for counts in found]


def _system_of(counts: Mapping[str, int]) -> str:
    """The system that has the first of the bins."""
    first = next(iter(counts), "")
    for system, bins in _MODELS.items():
        if first in bins.BINS:
            return system
    raise KeyError(f"Coverage bin must be one of a system's, not {first!r}")
