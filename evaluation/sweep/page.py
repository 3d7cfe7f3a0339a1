"""A sweep as one self-contained HTML page: cost against what is missed and wrongly reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from racetrap.evaluation.page import render
from racetrap.evaluation.svg import svg_text
from racetrap.evaluation.sweep.results import Row, cost_column, objectives
from racetrap.evaluation.sweep.spec import Spec

__all__ = ["html_page"]

_INCHES = (8.0, 3.6)


def html_page(spec: Spec, rows: Sequence[Row], facts: Mapping[str, object], command: str) -> str:
    """The page.

    Parameters
    ----------
    spec : Spec
        The sweep.
    rows : sequence of Row
        All points.
    facts : mapping of str to object
        How the figures were made: seeds, versions, times.
    command : str
        The command that makes them again.
    """
    measured = [row for row in rows if row.figures]
    names = list(measured[0].figures) if measured else []
    values = {
        "name": spec.name,
        "keys": list(spec.grid),
        "names": names,
        "objectives": objectives(spec, measured[0].figures) if measured else [],
        "cost": cost_column(spec),
        "rows": measured,
        "best": [row for row in measured if row.is_best],
        "refused": [row for row in rows if row.refused],
        "facts": facts,
        "command": command,
        "plot": plot(spec, measured),
    }
    return render(Path(__file__).with_name("page.html"), values)


def plot(spec: Spec, rows: Sequence[Row]) -> str:
    """Two scatter plots: misses and false reports over cost, the best points marked."""
    cost = cost_column(spec)

    def draw(figure: Figure) -> None:
        for axes, name in zip(figure.subplots(1, 2), ("misses", "false_reports"), strict=True):
            for is_best, marker, label in ((False, "o", "other"), (True, "D", "Pareto front")):
                chosen = [row.figures for row in rows if row.is_best == is_best]
                axes.scatter(
                    [figures[cost] for figures in chosen],
                    [figures[name] for figures in chosen],
                    marker=marker, s=28, alpha=0.7, label=f"{label} ({len(chosen)})",
                )  # fmt: skip
            axes.set_xlabel(cost.replace("_", " "))
            axes.set_ylabel(name.replace("_", " "))
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, fontsize=8)

    return svg_text(_INCHES, draw)
