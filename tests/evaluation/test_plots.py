"""Plots: nothing is hidden or cut."""

from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from racetrap.evaluation.plots import grouped_bars, legend_above
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
