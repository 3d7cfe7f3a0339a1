"""Figures of ``python -m tests.detection`` that the history of the results keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import OUTCOME, Figures
from racetrap.verdict.causality.missed import Cause
from racetrap.verdict.gpu.oracle import ELSEWHERE, REPORTED


def outcome_of(what: str, detector: str) -> str:
    """End of the name of a figure that counts races by what became of them."""
    return f"{OUTCOME}{what} ({detector})"


def figures(found: Mapping[str, Any]) -> Figures:
    """Figures in its JSON: programs of each suite, and what became of the races of all together."""
    outcomes: dict[str, Counter[str]] = {}
    for suite, rows in found["tables"].items():
        for detector, row in rows.items():
            name = f"{suite}, {detector}"
            yield f"{name}: racy programs found", f"of {row['racy']}", row["found"]
            yield f"{name}: race-free programs reported", f"of {row['race_free']}", row["reported"]
            yield f"{name}: reported pairs that are ordered", "pairs", row["ordered"]
            yield f"{name}: reported pairs that may conflict", "pairs", row["strong"]
            outcomes.setdefault(detector, Counter()).update(row["outcomes"])
    for detector, counts in outcomes.items():
        total = counts.total()
        for what in (REPORTED, ELSEWHERE, *map(str, Cause)) if total else ():
            name = f"{', '.join(found['tables'])}: {outcome_of(what, detector)}"
            yield name, f"of {total}", counts[what]
