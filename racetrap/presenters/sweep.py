"""Results of a sweep: text, JSON, page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from racetrap.evaluation.sweep.plots import plot_front
from racetrap.evaluation.sweep.results import PointResult, objectives
from racetrap.evaluation.sweep.spec import Spec
from racetrap.evaluation.table import Table
from racetrap.presenters.page import Section, html_page


def tables_of(spec: Spec, rows: Sequence[PointResult]) -> list[Table]:
    """Pareto front, points measured, and points refused."""
    measured = [row for row in rows if row.figures]
    best = [row for row in measured if row.is_best]
    refused = [row for row in rows if row.refused]
    figures = list(measured[0].figures) if measured else []
    low = objectives(spec, figures)
    return [
        Table(
            "front",
            f"Pareto front: {len(best)} of {len(rows)} points",
            f"No other point is at least as low in all of {', '.join(low)} and lower in one.",
            ("point", *spec.grid, *low),
            tuple(_row(row, low) for row in best),
        ),
        Table(
            "points",
            f"Measured: {len(measured)} of {len(rows)} points",
            "Misses and false reports are those of the golden model; they hold for these workloads "
            "and schedules only.",
            ("point", *spec.grid, *figures, "front"),
            tuple((*_row(row, figures), "yes" if row.is_best else "no") for row in measured),
        ),
        Table(
            "refused",
            f"Refused: {len(refused)} of {len(rows)} points",
            "These points are no configuration, or one that the workloads or the device have no "
            "room on.",
            ("point", "values", "reason"),
            tuple((row.point.number, row.point.label, row.refused) for row in refused),
        ),
    ]


def _row(row: PointResult, names: Sequence[str]) -> tuple[Any, ...]:
    return (row.point.number, *row.point.values.values(), *(row.figures[name] for name in names))


def to_json(rows: Sequence[PointResult]) -> dict[str, Any]:
    """All points as plain data."""
    return {"points": list(map(_point_json, rows))}


def _point_json(row: PointResult) -> dict[str, Any]:
    known = {"point": row.point.number, "values": dict(row.point.values)}
    if row.refused:
        return known | {"refused": row.refused}
    return known | {"figures": dict(row.figures), "pareto": row.is_best}


def page_of(
    spec: Spec, rows: Sequence[PointResult], facts: Mapping[str, object], command: str
) -> str:
    """The page; ``facts`` say how the figures were made, ``command`` makes them again."""
    plots = {"front": plot_front(spec, [row for row in rows if row.figures])}
    return html_page(
        f"Sweep {spec.name}",
        "Cost and detection quality of the configurations on a grid of parameters.",
        [Section(table, plots.get(table.name, "")) for table in tables_of(spec, rows)],
        command=command,
        facts=facts,
    )
