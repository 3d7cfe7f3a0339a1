"""Figures of ScoRD's cost in time that the history of the results keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures
from racetrap.evaluation.scord.overhead_statements import MEAN

#: Tables that are kept, with their unit.
TABLES = {
    "execution": "times", "schedules": "times", "figure-8": "times", "figure-9": "times",
    "figure-10": "%", "figure-11": "times", "sensitivity": "times", "models": "times",
    "hardware": "times", "vortex": "times", "vortex-cycles": "cycles",
}  # fmt: skip
#: Those of which there is no mean.
WITHOUT_MEAN = ("vortex-cycles",)
#: Begins the names.  A number's has the size, the table, the row, and behind a colon the column;
#: what a run took has the size, and behind a colon its own name.
HEAD = "cost of ScoRD in time, "
#: What a run took, with its unit and its name in JSON.
PER_RUN = {
    "events": ("events", "events"), "CPU time": ("s", "cpu_seconds"),
    "events replayed": ("events/s", "events_per_second"),
}  # fmt: skip


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """What the run took, and every number of the tables that is not the paper's, nor of a mean,
    which more rows than the run's may have."""
    for name, (unit, key) in PER_RUN.items():
        yield f"{HEAD}{found['size']}: {name}", unit, found[key]
    for table, unit in TABLES.items():
        for row in found["tables"][table]:
            for column, value in row.items() if row["program"] != MEAN else ():
                if column != "program" and not column.startswith("paper"):
                    name = f"{HEAD}{found['size']}, {table}, {row['program']}: {column}"
                    yield name, unit, value
