"""Markdown of the pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table"]


def table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table, one line a row; a vertical bar of a cell does not end it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(
        f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |\n"
        for line in lines
    )
