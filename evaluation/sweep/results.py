"""Results of a sweep in the order of its grid: rows, front, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from racetrap.evaluation.sweep.grid import Point
from racetrap.evaluation.sweep.spec import STATE, Spec

#: Costs beside the main one, where a sweep measures them.
_OTHER_COSTS = ("block_ram", "metadata_percent")
_QUALITY = ("misses", "false_reports")


@dataclass(frozen=True)
class PointResult:
    """A point with its result.

    Parameters
    ----------
    point : Point
        The point.
    figures : mapping of str to value
        Figures by name; empty if it was refused.
    refused : str
        Why it has none.
    is_best : bool
        No other point is at least as good in everything and better in something.
    """

    point: Point
    figures: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""
    is_best: bool = False


def cost_column(spec: Spec) -> str:
    """Figure that is the cost: state bits, look-up tables or gate equivalents."""
    return {STATE: "state_bits", "asic": "gate_equivalents"}.get(spec.cost.family, "lut")


def objectives(spec: Spec, figures: Collection[str]) -> list[str]:
    """Figures to minimise, of those that were measured."""
    return [name for name in (cost_column(spec), *_OTHER_COSTS, *_QUALITY) if name in figures]


def rows_of(
    spec: Spec, points: Sequence[Point], results: Mapping[int, Mapping[str, Any]]
) -> list[PointResult]:
    """Rows of all points that were measured or refused, the best ones marked.

    Parameters
    ----------
    spec : Spec
        The sweep.
    points : sequence of Point
        Its points.
    results : mapping of int to mapping
        Results of those that were measured, by number.
    """
    measured = [number for number in results if "figures" in results[number]]
    costs = [
        [figures[name] for name in objectives(spec, figures)]
        for figures in (results[number]["figures"] for number in measured)
    ]
    best = {measured[index] for index in pareto_front(costs)}
    return [
        PointResult(
            point,
            results.get(point.number, {}).get("figures", {}),
            point.refused or results[point.number].get("refused", ""),
            point.number in best,
        )
        for point in points
        if point.refused or point.number in results
    ]


def csv_text(spec: Spec, rows: Sequence[PointResult]) -> str:
    """All rows as CSV, in the order of the grid; the same bytes wherever they were measured."""
    names = list(dict.fromkeys(name for row in rows for name in row.figures))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["point", *spec.grid, "state", *names, "pareto", "reason"])
    for row in rows:
        writer.writerow([
            row.point.number,
            *(row.point.values[name] for name in spec.grid),
            "refused" if row.refused else "measured",
            *(row.figures.get(name, "") for name in names),
            "yes" if row.is_best else "no",
            row.refused,
        ])  # fmt: skip
    return text.getvalue()


def pareto_front(costs: Sequence[Sequence[float]]) -> list[int]:
    """Numbers of the points for which no other is at least as low everywhere and lower somewhere.

    Equal points are on the front together.

    Parameters
    ----------
    costs : sequence of sequence of float
        For each point the figures to minimise, in one order.
    """
    return [
        number
        for number, mine in enumerate(costs)
        if not any(_dominates(other, mine) for other in costs)
    ]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
