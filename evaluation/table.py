"""Table of figures: printed, written as JSON and shown on a page alike."""

from __future__ import annotations

from collections.abc import Iterable
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

    def to_json(self) -> list[dict[str, Any]]:
        """Rows as plain data."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def tables_to_json(tables: Iterable[Table]) -> dict[str, list[dict[str, Any]]]:
    """Rows of each table by its short name, as plain data."""
    return {table.name: table.to_json() for table in tables}
