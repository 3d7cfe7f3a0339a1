"""Tables on a terminal, and their cells in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from racetrap.presenters.printable import printable

if TYPE_CHECKING:
    from racetrap.evaluation.table import Cell, Table


def cell_text(cell: Cell) -> str:
    """A cell for people: four significant digits at least, of whole numbers all."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def is_numeric(rows: Iterable[Sequence[Cell]], column: int) -> bool:
    """Whether a column has numbers, and nothing else."""
    cells = [row[column] for row in rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def print_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> None:
    """Print rows; columns of numbers are aligned to the right."""
    rows, grid = list(rows), RichTable()
    for number, name in enumerate(columns):
        grid.add_column(
            escape(printable(name)), justify="right" if is_numeric(rows, number) else "left"
        )
    for row in rows:
        grid.add_row(*(escape(printable(cell_text(cell))) for cell in row))
    # A title of the grid itself would be wrapped to the grid's width.
    console.print(printable(title), markup=False, highlight=False)
    console.print(grid, soft_wrap=False)


def show_table(console: Console, table: Table) -> None:
    """Print a table."""
    print_table(console, table.title, table.columns, table.rows)


def show_tables(console: Console, tables: Iterable[Table], facts: Mapping[str, object]) -> None:
    """Print tables that have rows, and in a line what their runs were of."""
    for table in tables:
        if table.rows:
            show_table(console, table)
    known = (f"{name} {value}" for name, value in facts.items() if value is not None)
    console.print("; ".join(known), markup=False)
