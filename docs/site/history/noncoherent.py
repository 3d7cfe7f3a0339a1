"""Figures of accelerators that the history of the results keeps: name, unit and value of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures


def bench_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in its part of the JSON of `racetrap bench`."""
    for row in found["analysis"]:
        name = f"check of accelerators, mode {row['mode']}, {row['buffers']} buffers"
        rate = row["operations"] / row["check"]
        yield f"{name}, {row['operations']} operations", "operations/s", rate
    for access, rates in found["recorder"].items():
        yield f"recorder of accelerators, {access}", "accesses/s", rates["median"]


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in the JSON of its `racetrap evaluate`."""
    tables, seed = found["tables"], found["seed"]
    for row in tables.get("random-traces", ()):
        name = f"random traces of accelerators, seed {seed}, mode {row['mode']}"
        yield f"{name}: first race missed", f"of {row['racy']}", row["missed"]
        yield f"{name}: first race added", f"of {row['traces']}", row["added"]
    monitor: dict[str, Counter[str]] = {}
    for row in tables.get("monitor", ()):
        name = f"bus monitor, {row['entries']} entries, "
        name += "random traces" if row["program"] == "random traces" else "programs"
        counted = {key: row[key] for key in ("races", "lost", "possible", "imprecise")}
        monitor.setdefault(name, Counter()).update(counted)
    for name, counts in monitor.items():
        yield f"{name}: races lost", f"of {counts['races']}", counts["lost"]
        if possible := counts["possible"]:
            yield f"{name}: possible races that are none", f"of {possible}", counts["imprecise"]
    if rows := tables.get("monitor-cycles"):
        rate = sum(row["rows"] for row in rows) / sum(row["cycles"] for row in rows)
        yield "bus monitor on the programs with accelerators", "rows/cycle", rate
