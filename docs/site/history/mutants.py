"""Figures of mutants that the history of the results keeps: name, unit and value of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures

#: A figure's name is this, the preset, a comma, the block, and the end.
HEAD, END = "mutants of ", ": killed"


def figures(found: Mapping[str, Any]) -> Figures:
    """Mutants killed of those of each block that are not equivalent."""
    for row in found["tables"]["blocks"]:
        judged = row["mutants"] - row["equivalent"]
        yield f"{HEAD}{found['preset']}, {row['block']}{END}", f"of {judged}", row["killed"]
