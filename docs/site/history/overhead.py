"""Figures of ScoRD's cost in time that the history of the results keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures

#: Tables that are kept, with their unit.
TABLES = {
    "execution": "times", "schedules": "times", "figure-8": "times", "figure-9": "times",
    "figure-10": "%", "figure-11": "times", "sensitivity": "times", "models": "times",
    "hardware": "times", "vortex": "times", "vortex-cycles": "cycles",
}  # fmt: skip
#: A figure's name is this, the size, the table, the row, and behind a colon the column.
HEAD = "cost of ScoRD in time, "
#: That of the rate of the replays is the first two, and this.
RATE = ": events replayed"


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """Every number of the tables that is not the paper's, and the rate of the replays."""
    yield f"{HEAD}{found['size']}{RATE}", "events/s", found["events_per_second"]
    for table, unit in TABLES.items():
        for row in found["tables"][table]:
            for column, value in row.items():
                if column != "program" and not column.startswith("paper"):
                    name = f"{HEAD}{found['size']}, {table}, {row['program']}: {column}"
                    yield name, unit, value
