"""Tables of the concurrency suite, made by running it."""

from __future__ import annotations

from collections.abc import Mapping

from docs.site.markdown import table
from racetrap.golden_model.events import Space
from racetrap.sim.gpu.executor.machine.shapes import shape_text
from racetrap.sim.gpu.suites.concurrency.cases import (
    BARRIER_DIVERGENCE,
    CASES,
    DIVERGENCE,
    GROUPS,
    Case,
    RaceClasses,
)
from racetrap.sim.gpu.suites.concurrency.runner import SCHEDULES
from tests.support.gpu.concurrency import CaseOutcome, outcome_of

_SUMMARY = """\
Each kernel runs in {schedules} schedules. ScoRD reports a race in {false} of the {free} cases that
are race-free by the scope-aware oracle, and none in {missed} of the {racy} racy ones. The last
column of the tables below gives the reason.
"""


def _words(verdict: RaceClasses) -> str:
    return ", ".join(sorted(verdict)) or "none"


def _scord_remark(case: Case, outcome: CaseOutcome) -> str:
    """Why ScoRD's verdict differs from the scope-aware oracle's; empty if it does not."""
    if bool(outcome.scord) == bool(outcome.scoped):
        return ""
    if not outcome.scord:
        if outcome.spaces == {Space.SHARED}:
            return "shared memory is not monitored"
        if outcome.scoped == DIVERGENCE:
            return "accesses of one warp count as ordered"
        if outcome.scoped == BARRIER_DIVERGENCE:
            return "barriers are counted, not checked"
    return case.scord_reason


def remarks(case: Case, outcome: CaseOutcome) -> str:
    """Reason of the verdict, and why another oracle or ScoRD differs."""
    text = case.reason
    if case.scoped_reason:
        text += f" Scope-aware: {case.scoped_reason}."
    if case.truth:
        text += f" In truth {case.truth}: {case.truth_reason}"
    if remark := _scord_remark(case, outcome):
        text += f" ScoRD: {remark}."
    return text


def _row(case: Case, outcome: CaseOutcome) -> list[str]:
    return [
        f"`{case.name}`",
        f"{shape_text(case.grid)}, {shape_text(case.block)}",
        _words(outcome.races),
        _words(outcome.scoped),
        _words(outcome.scord),
        remarks(case, outcome),
    ]


def _counts(outcomes: Mapping[str, CaseOutcome]) -> str:
    """Number of racy cases of each group, by each oracle and ScoRD."""
    rows = []
    for title, cases in (*GROUPS.items(), ("All", tuple(CASES.values()))):
        group = [outcomes[case.name] for case in cases]
        right = sum(
            (outcomes[case.name].races, outcomes[case.name].scoped)
            == (case.races, case.scoped_races)
            for case in cases
        )
        rows.append([
            title,
            str(len(group)),
            f"{right} of {len(group)}",
            *(
                str(sum(bool(getattr(outcome, verdict)) for outcome in group))
                for verdict in ("races", "scoped", "scord")
            ),
            str(sum(case.is_racy for case in cases)),
        ])  # fmt: skip
    columns = [
        "group",
        "cases",
        "oracles right",
        "BARRACUDA: racy",
        "scope-aware: racy",
        "ScoRD: racy",
        "in truth: racy",
    ]
    return table(columns, rows)


def run_suite() -> dict[str, CaseOutcome]:
    """Outcome of every case by name."""
    return {name: outcome_of(name) for name in CASES}


def suite_tables(outcomes: Mapping[str, CaseOutcome]) -> str:
    """Counts and verdicts as Markdown, from the outcome of every case by name."""
    racy = [outcome for outcome in outcomes.values() if outcome.scoped]
    free = [outcome for outcome in outcomes.values() if not outcome.scoped]
    summary = _SUMMARY.format(
        schedules=len(SCHEDULES),
        racy=len(racy),
        missed=sum(not outcome.scord for outcome in racy),
        free=len(free),
        false=sum(bool(outcome.scord) for outcome in free),
    )
    parts = [_counts(outcomes), summary]
    columns = ["case", "grid, block", "BARRACUDA", "scope-aware", "ScoRD", "why"]
    for title, cases in GROUPS.items():
        rows = [_row(case, outcomes[case.name]) for case in cases]
        parts += [f"## {title}\n", table(columns, rows)]
    return "\n".join(parts)
