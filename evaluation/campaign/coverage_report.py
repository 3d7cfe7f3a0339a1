"""Coverage of several runs together, of any of the detectors.

A file is either the notes of a testbench run (``notes.jsonl``) or a JSON object of hits by bin.
Bins of different detectors have different names, so hits show whose they are; notes name it.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from racetrap.generators.systems import SYSTEM_NAMES, system_named
from racetrap.golden_model.checks import unknown_name
from racetrap.sim.cosim.comparison.coverage import BinCounts


def merge_files(paths: Iterable[Path]) -> dict[str, BinCounts]:
    """Coverage of all files together, by system; only systems that a file is of.

    Raises
    ------
    ValueError
        If a file is not what it should be.
    """
    documents = [document for path in paths for document in _documents(path)]
    merged: dict[str, BinCounts] = {}
    for system in dict.fromkeys(system for system, _ in documents):
        own = [counts for each, counts in documents if each == system]
        model = _model(system)
        bins = model.BINS
        if not bins.keys() >= {name for counts in own for name in counts}:
            bins = _bins(system)
        merged[system] = BinCounts(bins, model.UNREACHABLE)
        for counts in own:
            merged[system].merge(counts)
    return merged


def _model(system: str) -> Any:
    """The coverage model of a system: ``BINS``, ``OPTIONAL_BINS`` that only some instances have,
    and ``UNREACHABLE`` ones with the reason."""
    return system_named(system).own("sim.cosim", "coverage_bins")


def _bins(system: str) -> dict[str, None]:
    """All bins that an instance of a system may have."""
    model = _model(system)
    return {**model.BINS, **model.OPTIONAL_BINS}


def _documents(path: Path) -> list[tuple[str, Mapping[str, int]]]:
    """Hits in a file, each with its system."""
    data = path.read_bytes().removeprefix(BOM_UTF8)
    lines = data.splitlines() if path.suffix == ".jsonl" else [data]
    objects = [_object(path, number, line) for number, line in enumerate(lines, start=1)]
    if path.suffix != ".jsonl":
        return [_hits(path, objects[0], None)]
    named = next((note["system"] for note in objects if "system" in note), None)
    return [_hits(path, note["coverage"], named) for note in objects if "coverage" in note]


def _object(path: Path, line: int, text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(f"{path}:{line}: JSON is nested too deeply") from None
    except ValueError as error:  # of the format, of the encoding, or of an endless number
        raise ValueError(f"{path}:{line}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}:{line}: Line must be a JSON object, not {str(found)[:80]!r}")
    return found


def _hits(path: Path, counts: Any, system: Any) -> tuple[str, Mapping[str, int]]:
    """Hits by bin with their system, checked."""
    if not isinstance(counts, dict):
        raise ValueError(f"{path}: Coverage must be hits by bin, not {str(counts)[:80]!r}")
    if system is None:
        first = next(iter(counts), "")
        # Detectors have bins in common.
        systems = [name for name in SYSTEM_NAMES if first in _bins(name)]
        whole = (name for name in systems if counts.keys() <= _bins(name).keys())
        system = next(whole, next(iter(systems), None))
        if system is None:
            raise ValueError(
                f"{path}: Coverage bin {first!r} belongs to no system: "
                "give a file that --coverage wrote"
            )
    if not isinstance(system, str) or system not in SYSTEM_NAMES:
        raise ValueError(f"{path}: {unknown_name('system', system, SYSTEM_NAMES)}")
    for name, hits in counts.items():
        if name not in _bins(system):
            raise ValueError(
                f"{path}: {unknown_name(f'coverage bin of {system}', name, _bins(system), '')}"
            )
        if type(hits) is not int or hits < 0:
            raise ValueError(f"{path}: Hits of {name} must be a number from 0, not {hits!r}")
    return system, counts
