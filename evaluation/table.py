"""Table of figures: printed, written as JSON and shown on a page alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

#: None: there is no figure.
Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    name : str
        Short name, words joined by hyphens.
    title : str
        What it shows.
    note : str
        How to read it, in sentences.
    columns : tuple of str
        Names of the columns; those that begin with ``paper`` are the paper's figures.
    rows : tuple of tuple of Cell
        Its rows.
    """

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def is_numeric(self, column: int) -> bool:
        """Whether a column has numbers, and nothing else."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)

    def to_json(self) -> list[dict[str, Any]]:
        """Rows as plain data."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def cell_text(cell: Cell) -> str:
    """A cell for people: four significant digits at least, of whole numbers all."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
