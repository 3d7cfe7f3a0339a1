"""Tables of ScoRD's cost in time, from the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from docs.site.history.overhead import HEAD, RATE
from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.scord.overhead_tables import PAPER, make_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Tables with a plot: the paper's figures.
_PLOTTED = ("execution", "figure-9", "figure-10", "figure-11")
_INCHES = (8.0, 2.8)
_Rows: TypeAlias = Mapping[str, Mapping[str, str]]


def overhead_tables(size: str, results: Iterable[Result] | None = None) -> str:
    """The latest of all tables of a size of the inputs."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    made: dict[str, str] = {}
    head, rate = f"{HEAD}{size}, ", ""
    for each in read_results() if results is None else results:
        if each.figure == f"{HEAD}{size}{RATE}":
            rate = f"Replays take {each.value:,.0f} events in a second of CPU time.\n"
        elif each.figure.startswith(head):
            name, column = each.figure.removeprefix(head).split(": ", 1)
            kept, row = name.split(", ", 1)
            found[kept][row][column] = f"{each.value:.6g}"
            made[kept] = f"`{each.command}`, {each.date} ({each.revision})"
    if not found:
        return "No figure is kept yet.\n"
    parts = []
    for own in make_tables([]):
        if rows := found.get(own.name):
            for column, numbers in PAPER.get(own.name, {}).items():
                for program, cells in rows.items():
                    cells[column] = f"{numbers[program]}" if program in numbers else ""
            columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
            body = ((name, *(row.get(column, "") for column in columns))
                    for name, row in rows.items())  # fmt: skip
            parts.append(
                f"**{plain(own.title)}.** {plain(own.note)} {made[own.name]}\n\n"
                f"{table(('program', *columns), body)}\n"
            )
            if own.name in _PLOTTED:
                parts.append(_plot(rows, columns))
    return "\n".join([*parts, *([rate] if rate else [])])


def _plot(rows: _Rows, columns: Sequence[str]) -> str:
    """Bars of a table's numbers, a group for each row; the paper's are of few rows only."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        series = {
            column: [float(row[column] or "nan") for row in rows.values()] for column in columns
        }
        grouped_bars(axes, list(rows), series)
        legend_above(figure, axes)

    svg = "\n".join(line for line in svg_text(_INCHES, draw).splitlines() if line.strip())
    return f'<figure style="overflow-x:auto">\n{svg}\n</figure>\n'
