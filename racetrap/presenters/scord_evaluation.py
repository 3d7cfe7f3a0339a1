"""Tables VI and VII of the ScoRD paper from our own runs: text, JSON, page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple
from typing import Any

from racetrap.evaluation.scord.plots import plot_false_races, plot_races
from racetrap.evaluation.scord.tables import BuildSummary, Tables
from racetrap.evaluation.table import Table
from racetrap.presenters.page import Section, html_page
from racetrap.schemas.evaluations import BuildDocument
from racetrap.schemas.values import document

_NOT_RUN = "not run"


def tables_of(tables: Tables) -> list[Table]:
    """Tables for people."""
    return [
        Table(
            "races",
            "Races caught (Table VI)",
            "A race counts as present, or as caught, if it is seen in at least one schedule of the "
            "build in which only its switch is on.",
            ("workload", "switches", "present (oracle)", "base", "caching", "hardware",
             "paper: present", "paper: base", "paper: caching"),
            tuple(
                (row.name, row.builds, row.oracle, row.base, row.cached,
                 _NOT_RUN if row.hardware is None else row.hardware, *astuple(row.paper))
                for row in tables.races
            ),
        ),
        Table(
            "false-races",
            "Unique false races in race-free builds (Table VII)",
            "Different pairs of program counter and kind that are reported, over all schedules.",
            ("workload", "runs", "4 bytes", "8 bytes", "16 bytes", "caching",
             "paper: 4", "paper: 8", "paper: 16", "paper: caching"),
            tuple(
                (row.name, row.runs, row.counts["base"], row.counts["byte8"],
                 row.counts["byte16"], row.counts["cached"], *astuple(row.paper))
                for row in tables.false_races
            ),
        ),
        Table(
            "builds",
            "Builds: runs in which a race was found",
            "Outcome: what the detector with caching made of the oracle's unique races, summed "
            "over the runs. Unconfirmed: unique races for none of whose pairs of instructions "
            "the oracle has one in any run.",
            ("workload", "build", "runs", "oracle", "base", "caching", "hardware",
             "unique (oracle)", "unconfirmed", "outcome with caching"),
            tuple(map(_build_row, tables.builds)),
        ),
    ]  # fmt: skip


def _build_row(summary: BuildSummary) -> tuple[str | int, ...]:
    build = summary.build
    hardware = f"{summary.hardware_reported} of {summary.hardware_runs}"
    if not summary.hardware_agrees:
        hardware += ", differs"
    return (
        build.row, build.label if build.row == build.program else build.program, summary.runs,
        summary.present, summary.reported["base"], summary.reported["cached"],
        hardware if summary.hardware_runs else _NOT_RUN, len(summary.oracle),
        len(summary.unconfirmed),
        ", ".join(f"{cause} {count}" for cause, count in summary.outcomes.items()),
    )  # fmt: skip


def problems_of(tables: Tables) -> list[str]:
    """What no run may show, a sentence each."""
    problems = []
    for summary in tables.builds:
        where = f"{summary.build.program} ({summary.build.label})"
        if not summary.hardware_agrees:
            problems.append(f"{where}: hardware and golden model report different races")
        if not summary.build.racy and summary.present:
            problems.append(f"{where}: the oracle finds a race in {summary.present} runs")
    return problems


def to_json(tables: Tables) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "races": list(map(asdict, tables.races)),
        "false_races": list(map(asdict, tables.false_races)),
        "builds": list(map(_build_json, tables.builds)),
        "problems": problems_of(tables),
    }


def _build_json(summary: BuildSummary) -> dict[str, Any]:
    keys = "first", "second", "kind"
    return document(
        BuildDocument, summary.build, summary, workload=summary.build.row,
        oracle=[dict(zip(keys, race, strict=True)) for race in sorted(summary.oracle)],
        unique={name: sorted(map(list, races)) for name, races in summary.unique.items()},
        unconfirmed=list(map(list, summary.unconfirmed)),
        places={hex(pc): place for pc, place in sorted(summary.places.items())},
    )  # fmt: skip


def page_of(tables: Tables, facts: Mapping[str, object], command: str) -> str:
    """The page; ``facts`` say how the figures were made, ``command`` makes them again."""
    plots = {
        "races": plot_races(tables.races[:-1]),
        "false-races": plot_false_races(tables.false_races),
    }
    return html_page(
        "ScoRD on the ScoR suite",
        "The oracle finds the races of the schedules that ran; golden model and hardware are the "
        "detector.",
        [Section(table, plots.get(table.name, "")) for table in tables_of(tables)],
        command=command,
        facts=facts,
        problems=problems_of(tables),
    )
