"""Tables of ScoRD's cost in time, from the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import nan
from typing import TYPE_CHECKING, TypeAlias

from docs.site.history.overhead import HEAD, RATE
from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.scord.overhead_statements import statements_table
from racetrap.evaluation.scord.overhead_tables import PAPER, make_tables
from racetrap.evaluation.table import Table
from racetrap.evaluation.vortex.timing_model import timing_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Tables with a plot: the paper's figures.
_PLOTTED = ("execution", "figure-9", "figure-10", "figure-11")
_NOTHING = "No figure is kept yet.\n"
_INCHES = (8.0, 2.8)
_Rows: TypeAlias = Mapping[str, Mapping[str, float | None]]


def overhead_tables(size: str, results: Iterable[Result] | None = None) -> str:
    """The latest of all tables of a size of the inputs, with the statements that follow."""
    found, made, rate = _latest(size, results)
    if not found:
        return _NOTHING
    parts = []
    for own in make_tables([]):
        if rows := found.get(own.name):
            paper = PAPER.get(own.name, {})
            columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
            shown = {
                name: {column: cells.get(column) for column in columns}
                | {column: numbers.get(name) for column, numbers in paper.items()}
                for name, cells in rows.items()
            }
            parts.append(_table(own, shown, made[own.name]))
            if own.name in _PLOTTED:
                parts.append(_plot(shown))
    statements = statements_table(found)
    body = ([str(cell) for cell in row] for row in statements.rows)
    if statements.rows:
        parts.append(f"**{plain(statements.title)}.** {plain(statements.note)}\n\n"
                     f"{table(statements.columns, body)}\n")  # fmt: skip
    return "\n".join([*parts, *([rate] if rate else [])])


def vortex_tables(results: Iterable[Result] | None = None) -> str:
    """The latest of the tables of kernels on Vortex, whose inputs have one size."""
    found, made, _ = _latest("tiny", results)
    parts = [
        _table(own, found[own.name], made[own.name])
        for own in timing_tables({})
        if own.name in found
    ]
    return "\n".join(parts) or _NOTHING


def _latest(
    size: str, results: Iterable[Result] | None
) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, str], str]:
    """Numbers by table, row and column; the run of each table; the rate of the replays in words."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    made: dict[str, str] = {}
    head, rate = f"{HEAD}{size}, ", ""
    for each in read_results() if results is None else results:
        if each.figure == f"{HEAD}{size}{RATE}":
            rate = f"Replays take {each.value:,.0f} events in a second of CPU time.\n"
        elif each.figure.startswith(head):
            name, column = each.figure.removeprefix(head).split(": ", 1)
            kept, row = name.split(", ", 1)
            found[kept][row][column] = each.value
            made[kept] = f"`{each.command}`, {each.date} ({each.revision})"
    return found, made, rate


def _table(own: Table, rows: _Rows, made: str) -> str:
    """Title, note and rows of a table; ``made`` says by which run."""
    columns = list(next(iter(rows.values())))
    body = (
        (name, *("" if value is None else f"{value:.6g}" for value in row.values()))
        for name, row in rows.items()
    )
    lines = table(("program", *columns), body)
    return f"**{plain(own.title)}.** {plain(own.note)} {made}\n\n{lines}\n"


def _plot(rows: _Rows) -> str:
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
