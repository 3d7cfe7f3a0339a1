"""Cost tables as plain data, and as rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from racetrap.fpga.cost.limits import limits
from racetrap.fpga.cost.provenance import provenance
from racetrap.fpga.cost.table import Cost, CostTable, Row

__all__ = ["to_json"]


def to_json(tables: Sequence[CostTable], command: str) -> dict[str, Any]:
    """Plain data that JSON can hold.

    Parameters
    ----------
    tables : sequence of CostTable
        One a preset.
    command : str
        The command that makes them again.
    """
    made_by = provenance(tables)
    return {
        "command": command,
        "racetrap": version("racetrap"),
        "provenance": made_by,
        "not_for": limits(made_by),
        "tables": [_table(table) for table in tables],
    }


def _table(table: CostTable) -> dict[str, Any]:
    return {
        "preset": table.preset,
        "settings": list(table.settings),
        "state_bits": [asdict(part) for part in table.state],
        "paper": [asdict(comparison) for comparison in table.comparisons],
        "explanation": list(table.explanation),
        "blocks": [_row(row) for row in table.rows],
        "problems": table.problems,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "block": row.block,
        "instances": row.count,
        "state_bits": asdict(row.state),
        "costs": {family: _cost(cost) for family, cost in row.costs.items()},
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "device": cost.device,
        "versions": dict(cost.versions),
        "synthesis": asdict(cost.synthesis) if cost.synthesis else None,
        "fmax_mhz": asdict(cost.fmax) if cost.fmax else None,
        "placements": [asdict(placement) for placement in cost.placements],
        "problem": cost.problem,
    }
