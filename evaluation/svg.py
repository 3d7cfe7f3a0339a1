"""Plots as SVG text, the same bytes from the same figures."""

from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["svg_text"]


def svg_text(inches: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    """An SVG element to be put into a page.

    Parameters
    ----------
    inches : tuple of (float, float)
        Width and height.
    draw : callable
        Draws into the figure.
    """
    # A fixed salt and no date make the file reproducible; text stays text, for reading aloud.
    with mpl.rc_context({"svg.hashsalt": "racetrap", "svg.fonttype": "none"}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    # The declarations before it belong to a file of its own, not to a page.
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
