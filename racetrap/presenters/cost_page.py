"""Cost tables as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from racetrap.evaluation.page import render
from racetrap.fpga.cost.columns import cell_text, columns_of
from racetrap.fpga.cost.limits import limits
from racetrap.fpga.cost.provenance import provenance
from racetrap.fpga.cost.table import CostTable

__all__ = ["html_page"]


def html_page(tables: Sequence[CostTable], command: str) -> str:
    """The page.

    Parameters
    ----------
    tables : sequence of CostTable
        One a preset.
    command : str
        The command that makes them again.
    """
    made_by = provenance(tables)
    values = {
        "tables": [(table, columns_of(table)) for table in tables],
        "provenance": made_by,
        "not_for": limits(made_by),
        "command": command,
        "text": cell_text,
    }
    return render(Path(__file__).with_name("cost_page.html"), values)
