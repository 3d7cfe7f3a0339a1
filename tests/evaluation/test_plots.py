"""Plots: nothing is hidden or cut."""

import re
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.sweep import plots as sweep_plots


@pytest.mark.parametrize("height", [1, 1000])
def test_legend_covers_no_bar(height):
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    grouped_bars(axes, ["a", "b"], {"first": [height, height], "second": [0, height]})
    legend_above(figure, axes)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(axes.get_window_extent())


def test_markers_at_the_axis_are_whole(monkeypatch):
    drawn = []
    monkeypatch.setattr(sweep_plots, "cost_column", lambda spec: "bits")
    monkeypatch.setattr(sweep_plots, "svg_text", lambda inches, draw: drawn.append(draw))
    figures = {"bits": 8, "misses": 0, "false_reports": 0}
    rows = [SimpleNamespace(is_best=is_best, figures=figures) for is_best in (False, True)]
    sweep_plots.plot_front(None, rows)
    figure = Figure(layout="constrained")
    drawn[0](figure)
    collections = [each for axes in figure.axes for each in axes.collections]
    assert len(collections) == 4
    for each in collections:
        assert not each.get_clip_on()


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_axes_have_plain_numbers(scale):
    def draw(figure):
        axes = figure.add_subplot()
        axes.plot([1, 20, 150], [0, 400_000, 2_500_000])
        axes.set_xscale(scale)

    labels = re.findall(r"<text[^>]*>([^<]*)</text>", svg_text((6, 3), draw))
    assert {"100", "500,000", "2,500,000"} <= set(labels)
    assert [label for label in labels if not re.fullmatch(r"[\d,]+", label)] == []
