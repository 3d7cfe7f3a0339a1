"""Plots of the evaluation as SVG text, the same bytes from the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.scord.tables import FalseRow, RaceRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INCHES = (8.0, 3.2)


def plot_races(rows: Sequence[RaceRow]) -> str:
    """Races of each row of Table VI: present, and caught by each detector."""
    series = {
        "present (oracle)": [row.oracle for row in rows],
        "base design": [row.base for row in rows],
        "with caching": [row.cached for row in rows],
        "hardware, with caching": [row.hardware for row in rows if row.hardware is not None],
        "paper, with caching": [row.paper.cached for row in rows],
    }
    series = {name: values for name, values in series.items() if len(values) == len(rows)}
    return _bars([row.name for row in rows], series, "Races caught")


def plot_false_races(rows: Sequence[FalseRow]) -> str:
    """Unique false races of each row of Table VII."""
    names = {"base": "4 bytes", "byte8": "8 bytes", "byte16": "16 bytes", "cached": "with caching"}
    series = {label: [row.counts[name] for row in rows] for name, label in names.items()}
    return _bars([row.name for row in rows], series, "Unique false races")


def _bars(labels: Sequence[str], series: dict[str, list[int]], title: str) -> str:
    """Grouped bars, each with its value on top."""

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_subplot()
        for bars in grouped_bars(axes, labels, series):
            axes.bar_label(bars, fontsize=7)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel(title)
        legend_above(figure, axes)

    return svg_text(_INCHES, draw)
