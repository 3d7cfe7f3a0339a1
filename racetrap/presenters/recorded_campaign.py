"""Results of recorded programs on SigRace's hardware: text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.sigrace.recorded import FIGURES, ComparedProgram
from racetrap.presenters.tables import print_table


def recorded_to_json(results: Sequence[ComparedProgram]) -> dict[str, Any]:
    """Rows of all programs, and their sum, as plain data."""
    counts = Counter(dict.fromkeys(FIGURES, 0))
    for result in results:
        counts.update(result.counts)
    whole = ComparedProgram("all", counts, sum(result.seconds for result in results))
    differences = {each.program: each.difference for each in results if each.difference}
    return {
        "programs": [_row(result) for result in results],
        "all": _row(whole),
        "differences": differences,
    }


def print_recorded(console: Console, results: Sequence[ComparedProgram]) -> None:
    """Print a table, and every difference."""
    found = recorded_to_json(results)
    rows = [*found["programs"], found["all"]]
    columns = [column.replace("_per_", "/").replace("_", " ") for column in rows[0]]
    title = "Hardware against golden model, recorded programs (CPU seconds)"
    print_table(console, title, columns, [list(row.values()) for row in rows])
    for program, difference in found["differences"].items():
        console.print(f"{program}: {difference}", markup=False)
    console.print(f"{len(found['differences'])} of {len(results)} programs differ.")


def _row(result: ComparedProgram) -> dict[str, Any]:
    seconds = round(result.seconds, 2)
    rate = round(result.counts["events"] / result.seconds) if result.seconds else 0
    return {
        "program": result.program, **result.counts, "seconds": seconds, "events_per_second": rate,
    }  # fmt: skip
