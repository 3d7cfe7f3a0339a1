"""Figures of SigRace that the history of the results keeps: name, unit and value of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures, outcome_figures
from racetrap.evaluation.sigrace.figures import CHOSEN

#: What the names of the figures of cores at their own pace begin with.
PACE = "programs with threads at their own pace, "
#: What the names of the figures of the policies of rollback begin with.
POLICIES = "rollbacks of programs with threads, "
#: Columns of the table that are kept of each machine, and parts of a message's cycles that are kept
#: of those with so many scanners: with few of them nearly all is comparing.
_PACES = ("cycles a message", "cycles", "for the RDM")
_PARTS = ("comparing", "decompressing", "none")
_MANY = 7


def bench_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in its part of the JSON of `racetrap bench`."""
    scan = found["worst_scan"]
    rate = scan["comparisons"] / scan["cycles"]
    yield "RDM of sigrace, longest scan", "comparisons/cycle", rate
    for row in found["sustained"]:
        name = f"RDM of sigrace, blocks of {row['block_instructions']} instructions"
        yield name, "cycles a message", row["message_cycles"]
    for row in found["recorder"]:
        yield f"recorder of threads, {row['name']}", "events/s", row["recorded"]["median"]


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in the JSON of its `racetrap evaluate`."""
    programs, runs = found["programs"], found["runs with injected races"]
    name = f"programs with threads, size {found['size']}, {programs} programs"
    tables = found["tables"]
    for what, words in (("existing", ""), ("injected", f", {runs} synchronisations left out")):
        counts: Counter[str] = Counter()
        for row in tables["outcomes"]:
            if row["races"] == what:
                counts.update({key: row[key] for key in row if key not in ("program", "races")})
        yield from outcome_figures(name + words, counts)
    total = next(row for row in tables["injected"] if row["program"] == "Total")
    if total["racy"]:
        what = f"{name}, {runs} synchronisations left out: runs found by SigRace"
        yield what, f"of {total['racy']}", total["runs found, SigRace"]
    for row in tables["figure-7a"]:
        if row["configuration"] == CHOSEN:
            for kind in ("regular", "irregular"):
                if (rate := row[f"{kind} %"]) is not None:
                    yield f"{name}: false intersections of {CHOSEN}, {kind} programs", "%", rate
    unreal = sum(
        row["not real"]
        for row in (*tables["existing"], *tables["injected"])
        if row["program"] != "Total"
    )
    yield f"{name}: reports that are no race", "races", unreal
    for row in tables["policies"]:
        if row["policy"] != "Paper":
            yield from _policy_figures(
                f"{POLICIES}size {found['size']} of {programs} programs", row
            )
    for row in tables["pace"]:
        machine = f"scanners {row['scanners']}, decompressors {row['decompressors']}"
        for column in _PACES:
            yield f"{PACE}{column}, {row['program']}: {machine}", "cycles", row[column]
        if row["scanners"] >= _MANY:
            name = f"{PACE}parts with {row['scanners']} scanners, {row['program']}"
            for part in _PARTS:
                yield f"{name}: {part}", "cycles", row[part]


def _policy_figures(name: str, row: Mapping[str, Any]) -> Figures:
    """All figures of a policy; units are in the names of the columns."""
    for column, value in row.items():
        if column != "policy" and value is not None:
            unit = "%" if column.endswith("%") else "number"
            yield f"{name}, {row['policy']}: {column}", unit, value
