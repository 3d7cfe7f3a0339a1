"""The columns of a cost table, for the terminal and for the page alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from racetrap.fpga.cost.table import Cost, CostTable, Row

__all__ = ["Cell", "Column", "cell_text", "columns_of"]

#: None: there is nothing to say.
Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column.

    Parameters
    ----------
    family : str
        Family that the figures are of; empty if of none.
    name : str
        What the figures are.
    cell : callable
        A row's figure.
    """

    family: str
    name: str
    cell: Callable[[Row], Cell]


_BLOCK = (
    Column("", "block", lambda row: row.block),
    Column("", "instances", lambda row: row.count),
    Column("", "flip-flops elaborated", lambda row: row.state.flip_flops),
    Column("", "memory bits", lambda row: row.state.memory_bits),
)
#: Figures of synthesis: name of the column, attribute of the result.
_SYNTHESIS = (
    ("LUT", "lut"), ("FF", "ff"), ("block RAM", "block_ram"), ("DSP", "dsp"), ("depth", "depth"),
    ("GE", "gate_equivalents"), ("area [um2]", "area_um2"),
)  # fmt: skip
#: An area estimate counts cells of a library, and has no LUT, block RAM or DSP.
_NOT_ON_ASIC = ("lut", "block_ram", "dsp")


def columns_of(table: CostTable) -> list[Column]:
    """Columns of a table; those without any figure are left out."""
    columns = list(_BLOCK)
    for family in table.families:
        asic = any(_area(row.costs.get(family)) is not None for row in table.rows)
        columns += [
            Column(family, name, _synthesis_cell(family, attribute))
            for name, attribute in _SYNTHESIS
            if not (asic and attribute in _NOT_ON_ASIC)
        ]
        columns.append(Column(family, "Fmax [MHz]", _fmax_cell(family)))
    return [column for column in columns if any(column.cell(row) is not None for row in table.rows)]


def cell_text(cell: Cell) -> str:
    """A cell as people read it."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _area(cost: Cost | None) -> float | None:
    return cost.synthesis.area_um2 if cost and cost.synthesis else None


def _synthesis_cell(family: str, attribute: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        cost = row.costs.get(family)
        return getattr(cost.synthesis, attribute) if cost and cost.synthesis else None

    return cell


def _fmax_cell(family: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        cost = row.costs.get(family)
        fmax = cost.fmax if cost else None
        if fmax is None:
            return None
        if fmax.low == fmax.high:
            return f"{fmax.median:.1f}"
        return f"{fmax.median:.1f} ({fmax.low:.1f}-{fmax.high:.1f})"

    return cell
