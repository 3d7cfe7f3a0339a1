"""Figures of detectors beside Vortex that the history of the results keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures
from racetrap.evaluation.scord.overhead_statements import MEAN

#: Begins the names: behind it are the table, the row, and behind a colon the column.
HEAD = "beside Vortex, "
#: What a row of the table of cycles is called by.
ROW = "detector, memory"


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """Runs of each program that are reported, racy or wrong, and what detectors cost applications;
    the means follow from the rows."""
    tables = found["tables"]
    for row in tables["programs"]:
        for column, runs in row.items():
            if column not in ("program", "suite") and runs is not None:
                count, unit = runs.split(" ", 1)
                yield f"{HEAD}programs, {row['program']}: {column}", unit, int(count)
    for row in tables.get("overhead", ()):
        for column, more in row.items():
            if column not in (ROW, MEAN):
                yield f"{HEAD}overhead, {row[ROW]}: {column}", "%", more
