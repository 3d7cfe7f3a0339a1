"""Findings of a program's runs as SARIF 2.1.0, for code hosts and editors.

Ref: OASIS Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from racetrap.evaluation.scord.baseline import line_texts
from racetrap.evaluation.scord.line_pairs import LinePair
from racetrap.evaluation.source_text import relative_place
from racetrap.golden_model.barracuda import RaceKind
from racetrap.presenters.program_findings import race_sentence

__all__ = ["program_sarif"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_RULES = {
    RaceKind.UNORDERED: "Nothing orders two accesses of which one writes",
    RaceKind.SAME_INSTRUCTION: "Lanes of one instruction store different values to one place",
    RaceKind.SCOPED_ATOMIC: "The scope of an atomic leaves the other thread out",
    RaceKind.NOT_STRONG: "Only fences order two accesses, and one of them is weak",
}


def _location(place: str, message: str = "") -> dict[str, Any]:
    path, _, line = relative_place(place).rpartition(":")
    found: dict[str, Any] = {}
    if line.isdecimal():
        uri = Path(path).as_uri() if Path(path).is_absolute() else quote(path)
        found["physicalLocation"] = {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": max(int(line), 1)},
        }
    else:
        found["logicalLocations"] = [{"name": place}]
    if message:
        found["message"] = {"text": message}
    return found


def _result(pair: LinePair) -> dict[str, Any]:
    digest = hashlib.sha256(repr(sorted(line_texts(pair))).encode()).hexdigest()
    return {
        "ruleId": pair.race.kind.value,
        "level": "error",
        "message": {"text": f"{race_sentence(pair)} ({pair.instances} instances)."},
        "locations": [_location(pair.later)],
        "relatedLocations": [_location(pair.earlier, "earlier access")],
        "partialFingerprints": {"linePair/v1": digest},
    }


def program_sarif(pairs: Sequence[LinePair]) -> dict[str, Any]:
    """A log with one run: a result for each pair of source lines."""
    rules = [
        {"id": kind.value, "shortDescription": {"text": text}} for kind, text in _RULES.items()
    ]
    driver = {"name": "racetrap", "version": version("racetrap"), "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": list(map(_result, pairs))}],
    }
