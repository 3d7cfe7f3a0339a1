"""Tables of a command whose rows the history of the results keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.evaluation.scord.overhead_statements import MEAN
from racetrap.evaluation.table import Table

#: What a page has instead of tables of which nothing is kept.
NOTHING = "No figure is kept yet.\n"
Rows: TypeAlias = Mapping[str, Mapping[str, float | None]]


class KeptTables:
    """The latest figures by table, row and column: their names are these behind a head, with a
    comma and a colon between them.  A mean is of the latest rows, not kept.

    Parameters
    ----------
    head : str
        What the names begin with.
    results : iterable of Result or None
        The history; that of the checkout by default.

    Attributes
    ----------
    rows : mapping
        Numbers by table, row and column.
    units : mapping
        Unit of each.
    """

    def __init__(self, head: str, results: Iterable[Result] | None) -> None:
        self.rows: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        self.units: dict[tuple[str, str, str], str] = {}
        self._runs: dict[tuple[str, str, str], str] = {}
        for each in read_results() if results is None else results:
            if each.figure.startswith(head):
                name, column = each.figure.removeprefix(head).split(": ", 1)
                kept, row = name.split(", ", 1)
                if row == MEAN:
                    continue
                self.rows[kept][row][column] = each.value
                self.units[kept, row, column] = each.unit
                self._runs[kept, row, column] = f"`{each.command}`, {each.date} ({each.revision})"

    def table(self, name: str) -> dict[str, dict[str, float | None]]:
        """Rows of a table, each with all its columns; none if nothing is kept of it."""
        rows: Mapping[str, Mapping[str, float]] = self.rows.get(name, {})
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        return {name: {each: row.get(each) for each in columns} for name, row in rows.items()}

    def runs_of(self, name: str) -> str:
        """The runs that the figures of a table are of."""
        runs = [run for (kept, *_), run in self._runs.items() if kept == name]
        return "; ".join(dict.fromkeys(runs))


def shown_table(own: Table, first: str, rows: Rows, made: str) -> str:
    """Title, note and rows of a table; ``first`` is what the rows are, ``made`` says by which
    run."""
    columns = list(next(iter(rows.values())))
    body = (
        (name, *("" if value is None else f"{value:.6g}" for value in row.values()))
        for name, row in rows.items()
    )
    lines = table((first, *columns), body)
    return f"**{plain(own.title)}.** {plain(own.note)} {made}\n\n{lines}\n"
