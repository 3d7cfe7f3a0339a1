"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from racetrap.evaluation.table import Cell, Table, cell_text
from racetrap.presenters.printable import printable


def show_table(console: Console, table: Table) -> None:
    """Print a table; columns of numbers are aligned to the right."""
    grid = RichTable()
    for number, name in enumerate(table.columns):
        grid.add_column(
            escape(printable(name)), justify="right" if table.is_numeric(number) else "left"
        )
    for row in table.rows:
        grid.add_row(*(escape(printable(cell_text(cell))) for cell in row))
    # A title of the grid itself would be wrapped to the grid's width.
    console.print(printable(table.title), markup=False, highlight=False)
    console.print(grid, soft_wrap=False)


def show_tables(console: Console, tables: Iterable[Table], facts: Mapping[str, object]) -> None:
    """Print tables, and in a line what their runs were of."""
    for table in tables:
        show_table(console, table)
    known = (f"{name} {value}" for name, value in facts.items() if value is not None)
    console.print("; ".join(known), markup=False)


def print_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> None:
    """Print rows that only the terminal shows."""
    show_table(console, Table("", title, "", tuple(columns), tuple(map(tuple, rows))))
