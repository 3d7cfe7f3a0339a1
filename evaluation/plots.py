"""Plots as SVG text, the same bytes from the same figures."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from racetrap.sim.tools import not_found

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

_BARS_WIDTH = 0.8


def svg_text(inches: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    """An SVG element to be put into a page; without the package that draws, a sentence on it.

    Parameters
    ----------
    inches : tuple of (float, float)
        Width and height.
    draw : callable
        Draws into the figure.
    """
    try:
        import matplotlib as mpl  # slow to import
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        return f"<p>Plots are left out: {escape(not_found(error.name or 'matplotlib'))}</p>"
    # A fixed salt and no date make the file reproducible; text stays text, for reading aloud.
    with mpl.rc_context({"svg.hashsalt": "racetrap", "svg.fonttype": "none"}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
            _plain_numbers(axes)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    # The declarations before it belong to a file of its own, not to a page.
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _plain_numbers(axes: Axes) -> None:
    """Label axes with numbers as a text has them, instead of powers and shared factors."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, ScalarFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_minor_formatter(NullFormatter())
        elif type(axis.get_major_formatter()) is not ScalarFormatter:
            # Names of bars.
            continue
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def legend_above(figure: Figure, axes: Axes) -> None:
    """The legend of ``axes`` at the top of the figure: beside the data, not over it."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=8)


def grouped_bars(
    axes: Axes, labels: Sequence[str], series: Mapping[str, Sequence[float]]
) -> list[BarContainer]:
    """Draw a group of bars at each label, one of each series."""
    width = _BARS_WIDTH / len(series)
    axes.set_xticks(range(len(labels)), labels)
    drawn = []
    for number, (name, values) in enumerate(series.items()):
        offset = (number - (len(series) - 1) / 2) * width
        places = [place + offset for place in range(len(labels))]
        drawn.append(axes.bar(places, values, width, label=name))
    return drawn
