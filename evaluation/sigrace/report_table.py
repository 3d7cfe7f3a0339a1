"""A table of the evaluation, which is printed, written as JSON and shown on the page alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

__all__ = ["Cell", "Table", "cell_text", "mean", "of_kind", "percent"]

#: None: there is nothing to say.
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


def cell_text(cell: Cell) -> str:
    """A cell as people read it."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def of_kind(results: Iterable[ProgramResult], kind: str) -> list[ProgramResult]:
    """Results of the programs of a kind: regular or irregular."""
    return [result for result in results if PROGRAMS[result.program].kind == kind]


def mean(
    results: Sequence[ProgramResult], figure: Callable[[ProgramResult], float | None]
) -> float | None:
    """Mean of a figure over the programs that have it."""
    values = [value for result in results if (value := figure(result)) is not None]
    return fmean(values) if values else None


def percent(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share
