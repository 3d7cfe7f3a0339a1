"""Plot of a sweep: what a smaller share of metadata does to detection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from docs.site.markdown import table
from racetrap.evaluation.plots import legend_above, svg_text
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import measure, tasks_of
from racetrap.evaluation.sweep.results import PointResult, rows_of
from racetrap.evaluation.sweep.spec import read_spec

_SPEC = Path(__file__).resolve().parents[1] / "examples" / "sweep-metadata.toml"
_FIGURES = ("misses", "false_reports")


def results(file: Path) -> list[PointResult]:
    """Every point of a sweep, measured now."""
    spec = read_spec(file)
    points = points_of(spec)
    found = {number: measure(task) for number, task in tasks_of(spec, points).items()}
    return list(rows_of(spec, points, found))


def plot(rows: Sequence[PointResult]) -> str:
    """Misses and false reports over the share of metadata, a line a granularity."""
    sizes = sorted({row.point.values["granularity"] for row in rows})

    def draw(figure: Figure) -> None:
        for axes, name in zip(figure.subplots(1, 2), _FIGURES, strict=True):
            for size in sizes:
                line = sorted(
                    (row.figures["metadata_percent"], row.figures[name])
                    for row in rows
                    if row.point.values["granularity"] == size
                )
                axes.plot(*zip(*line, strict=True), marker="o", label=f"{size}-byte granules")
            axes.set_xscale("log")
            axes.set_xlabel("metadata, % of the data")
            axes.set_ylabel(name.replace("_", " "))
            axes.set_ylim(bottom=0)
            axes.locator_params(axis="y", integer=True)
        legend_above(figure, axes)

    return "\n".join(line for line in svg_text((8.0, 3.4), draw).splitlines() if line.strip())


def metadata_plot() -> str:
    """The plot of the example in the tree, and its figures as a table."""
    rows = results(_SPEC)
    columns = ("granularity", "ratio", "metadata, %", "races", "misses", "false reports")
    lines = (
        (
            row.point.values["granularity"], row.point.values["ratio"],
            *(row.figures[name] for name in ("metadata_percent", "races", *_FIGURES)),
        )
        for row in rows
    )  # fmt: skip
    return f'<figure style="overflow-x:auto">\n{plot(rows)}\n</figure>\n\n{table(columns, lines)}'
