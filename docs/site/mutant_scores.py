"""Table of the scores of mutants, from the results."""

from __future__ import annotations

from collections.abc import Iterable

from docs.site.history.mutants import END, HEAD
from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.evaluation.mutants.table import wilson


def mutant_scores(results: Iterable[Result] | None = None) -> str:
    """The latest score of each block with its interval."""
    latest = {
        each.figure: each
        for each in (read_results() if results is None else results)
        if each.figure.startswith(HEAD)
    }
    rows = []
    for figure, result in latest.items():
        preset, block = figure.removeprefix(HEAD).removesuffix(END).split(", ", 1)
        killed, judged = int(result.value), int(result.unit.removeprefix("of "))
        low, high = wilson(killed, judged)
        rows.append((
            preset, plain(block), judged, killed,
            f"{100 * killed / judged:.1f}" if judged else "",
            f"{100 * low:.1f}-{100 * high:.1f}", f"{result.date} ({result.revision})",
        ))  # fmt: skip
    if not rows:
        return "No score is kept yet.\n"
    columns = ("preset", "block", "mutants", "killed", "%", "95 % interval", "run")
    return table(columns, rows)
