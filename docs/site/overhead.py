"""Tables of ScoRD's cost in time, from the results."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from statistics import fmean
from typing import TYPE_CHECKING

from docs.site.history.overhead import HEAD, WITHOUT_MEAN
from docs.site.history.results import Result, read_results
from docs.site.kept_tables import NOTHING, KeptTables, Rows, shown_table
from docs.site.markdown import plain, table
from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.scord.overhead_statements import MEAN, statements_table
from racetrap.evaluation.scord.overhead_tables import PAPER, make_tables
from racetrap.evaluation.vortex.timing_model import timing_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Tables with a plot: the paper's figures.
_PLOTTED = ("execution", "figure-9", "figure-10", "figure-11")
_INCHES = (8.0, 2.8)


def overhead_tables(size: str, results: Iterable[Result] | None = None) -> str:
    """The latest rows of all tables of a size of the inputs, with the statements that follow."""
    kept = _Kept(size, results)
    if not kept.rows:
        return NOTHING
    parts = []
    for own in make_tables([]):
        if rows := kept.table(own.name):
            paper = PAPER.get(own.name, {})
            shown = {
                name: row | {column: numbers.get(name) for column, numbers in paper.items()}
                for name, row in rows.items()
            }
            parts.append(shown_table(own, "program", shown, kept.runs_of(own.name)))
            if own.name in _PLOTTED:
                parts.append(_plot(shown))
    statements = statements_table(kept.rows)
    body = ([str(cell) for cell in row] for row in statements.rows)
    if statements.rows:
        parts.append(f"**{plain(statements.title)}.** {plain(statements.note)}\n\n"
                     f"{table(statements.columns, body)}\n")  # fmt: skip
    return "\n".join([*parts, *kept.speed()])


def vortex_tables(results: Iterable[Result] | None = None) -> str:
    """The latest rows of the tables of kernels on Vortex, whose inputs have one size."""
    kept = _Kept("tiny", results)
    parts = [
        shown_table(own, "program", rows, kept.runs_of(own.name))
        for own in timing_tables({})
        if (rows := kept.table(own.name))
    ]
    return "\n".join(parts) or NOTHING


class _Kept(KeptTables):
    """Kept figures of a size of the inputs."""

    def __init__(self, size: str, results: Iterable[Result] | None) -> None:
        given = read_results() if results is None else list(results)
        super().__init__(f"{HEAD}{size}, ", given)
        self._run: dict[str, float] = {}
        self._command = ""
        of_run = f"{HEAD}{size}: "
        for each in given:
            if each.figure.startswith(of_run):
                self._run[each.figure.removeprefix(of_run)] = each.value
                self._command = each.command

    def table(self, name: str) -> dict[str, dict[str, float | None]]:
        """Rows of a table, and the mean of several; none if nothing is kept of it."""
        rows = super().table(name)
        if len(rows) > 1 and name not in WITHOUT_MEAN:
            columns = next(iter(rows.values()))
            values = {each: [row[each] for row in rows.values()] for each in columns}
            rows[MEAN] = {
                each: round(fmean(value for value in found if value is not None), 3)
                for each, found in values.items()
            }
        return rows

    def speed(self) -> list[str]:
        """What the latest run took, in sentences, as far as that is kept."""
        shown = {name: f"{value:,.0f}" for name, value in self._run.items()}
        sentences = []
        if seconds := shown.get("CPU time"):
            sentences.append(f"`{self._command}` had {shown['events']} events, and took {seconds} "
                             "seconds of CPU time.\n")  # fmt: skip
        if rate := shown.get("events replayed"):
            sentences.append(f"Replays take {rate} events in a second of CPU time.\n")
        return sentences


def _plot(rows: Rows) -> str:
    """Bars of a table's numbers, a group for each row; the paper's are of few rows only."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        columns = next(iter(rows.values()))
        series = {
            column: [nan if (value := row[column]) is None else value for row in rows.values()]
            for column in columns
        }
        grouped_bars(axes, list(rows), series)
        legend_above(figure, axes)

    svg = "\n".join(line for line in svg_text(_INCHES, draw).splitlines() if line.strip())
    return f'<figure style="overflow-x:auto">\n{svg}\n</figure>\n'
