"""Figures 7, 8 and 10(b) of the SigRace paper as SVG text.

Ref: SigRace (ISCA'09) Sections 5.2, 5.3 and 5.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.sigrace.figure_tables import (
    RateOf,
    of_configuration,
    of_size,
    window_means,
)
from racetrap.evaluation.sigrace.figures import BLOCK_SIZES, CHOSEN, DEPTHS, SYNC
from racetrap.evaluation.sigrace.means import mean, of_kind, percent
from racetrap.evaluation.sigrace.paper import (
    BYTES_PER_1000_INSTRUCTIONS,
    FALSE_POSITIVE_PERCENT,
    LOST_WINDOW_PERCENT,
)
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.golden_model.sigrace.params import Form

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE, _PANELS = (9.0, 3.6), (9.0, 3.4)
#: Entries for which the paper gives the lost window.
_PAPER_DEPTH = 16
_Results = Sequence[ProgramResult]


def plot_configurations(results: _Results) -> str:
    """Fig. 7(a): mean false-positive rate by signature configuration."""
    names = list(results[0].figures.configurations)
    return _rates(results, {name.replace(", ", ",\n"): of_configuration(name) for name in names})


def plot_block_sizes(results: _Results) -> str:
    """Fig. 7(b): mean false-positive rate by block size."""
    return _rates(results, {str(size): of_size(size) for size in (*BLOCK_SIZES, SYNC)})


def plot_windows(results: _Results) -> str:
    """Fig. 8: lost window, hit rate and comparisons by entries of a queue."""
    titles = ("(a) lost window %", "(b) hit rate %", "", "(c) comparisons")

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 3)
        place = DEPTHS.index(_PAPER_DEPTH)
        panels[0].plot(place, LOST_WINDOW_PERCENT, "kx", label="paper, blocks of 2,000")
        for axes, column in zip(panels, (0, 1, 3), strict=True):
            for size in BLOCK_SIZES:
                points = [window_means(results, size, depth)[column] for depth in DEPTHS]
                axes.plot(
                    range(len(DEPTHS)),
                    points,
                    marker="o",
                    markersize=3,
                    label=f"blocks of {size:,}",
                )
            axes.set_xticks(range(len(DEPTHS)), DEPTHS)
            axes.set_xlabel("entries")
            axes.set_ylim(bottom=0)
            axes.set_title(titles[column], fontsize=10)
        legend_above(figure, panels[0])

    return svg_text(_PANELS, draw)


def plot_messages(results: _Results) -> str:
    """Fig. 10(b): message bytes for each 1,000 instructions."""
    series = {
        f"form {form}": [each.figures.messages[form].per_1000_instructions for each in results]
        for form in (Form.SETS, Form.HASHED)
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _bars(axes, [result.program for result in results], series)
        axes.set_ylabel("bytes for 1,000 instructions")
        _paper_line(axes, BYTES_PER_1000_INSTRUCTIONS, "paper, mean")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def _rates(results: _Results, figures: Mapping[str, RateOf]) -> str:
    """Mean rates of the regular and of the irregular programs, in percent."""
    series = {
        f"{kind} programs": [_mean_rate(group, figure) for figure in figures.values()]
        for kind in ("regular", "irregular")
        if (group := of_kind(results, kind))
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _bars(axes, list(figures), series)
        axes.set_ylabel("false positives %")
        _paper_line(axes, FALSE_POSITIVE_PERCENT, f"paper, {CHOSEN}")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def _mean_rate(group: _Results, figure: RateOf) -> float:
    return percent(mean(group, lambda result: figure(result).rate)) or 0.0


def _paper_line(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, label=label, color="#555", linestyle="--", linewidth=1)


def _bars(axes: Axes, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Grouped bars with long labels."""
    grouped_bars(axes, labels, series)
    axes.tick_params("x", rotation=60, labelsize=8)
