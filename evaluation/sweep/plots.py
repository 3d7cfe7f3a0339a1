"""Plot of a sweep as SVG text: misses and false reports over cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from racetrap.evaluation.plots import legend_above, svg_text
from racetrap.evaluation.sweep.results import PointResult, cost_column
from racetrap.evaluation.sweep.spec import Spec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INCHES = (8.0, 3.6)


def plot_front(spec: Spec, rows: Sequence[PointResult]) -> str:
    """Two scatter plots of the points measured, those of the front marked."""
    cost = cost_column(spec)

    def draw(figure: Figure) -> None:
        for axes, name in zip(figure.subplots(1, 2), ("misses", "false_reports"), strict=True):
            for is_best, marker, label in ((False, "o", "other"), (True, "D", "Pareto front")):
                chosen = [row.figures for row in rows if row.is_best == is_best]
                axes.scatter(
                    [figures[cost] for figures in chosen],
                    [figures[name] for figures in chosen],
                    marker=marker, s=28, alpha=0.7, clip_on=False, label=f"{label} ({len(chosen)})",
                )  # fmt: skip
            axes.set_xlabel(cost.replace("_", " "))
            axes.set_ylabel(name.replace("_", " "))
            axes.set_ylim(bottom=0)
            axes.locator_params(axis="y", integer=True)
        legend_above(figure, axes)

    return svg_text(_INCHES, draw)
