"""Figures 9 and 10 of the BARRACUDA paper from our own runs, as SVG text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from racetrap.evaluation.barracuda.measure import WAYS, Measured
from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INCHES = (9.0, 3.8)


def plot_instrumented(measured: Collection[Measured]) -> str:
    """Figure 9: percent of the static instructions that are logged, before and after pruning."""
    series = {
        "before pruning": [each.percent(each.logged) for each in measured],
        "after pruning": [each.percent(each.left) for each in measured],
    }
    return _bars(measured, series, "Static instructions, %")


def plot_overhead(measured: Collection[Measured]) -> str:
    """Figure 10: checked runs over the untraced run, on a logarithmic axis."""
    series = {way: [each.factor(way) for each in measured] for way in WAYS[1:]}
    return _bars(measured, series, "Checked over untraced run", is_log=True)


def _bars(
    measured: Collection[Measured], series: Mapping[str, Sequence[float]], title: str, *,
    is_log: bool = False,
) -> str:  # fmt: skip
    """A group of bars for each benchmark."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        grouped_bars(axes, [each.name for each in measured], series)
        axes.tick_params("x", rotation=60, labelsize=8)
        if is_log:
            axes.set_yscale("log")
            axes.axhline(1, color="0.6", linewidth=0.8)
        axes.set_ylabel(title)
        legend_above(figure, axes)

    return svg_text(_INCHES, draw)
