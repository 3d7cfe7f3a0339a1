"""Table of the scores of mutants, from the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from docs.site.history.mutants import END, HEAD
from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.evaluation.mutants.table import wilson


@dataclass(frozen=True)
class Score:
    """Latest score of a block.

    Parameters
    ----------
    preset, block : str
        Their names.
    killed, judged : int
        Mutants that were killed, and those not proved to be equivalent.
    result : Result
        The row that says so.
    """

    preset: str
    block: str
    killed: int
    judged: int
    result: Result


def latest_scores(results: Iterable[Result] | None = None) -> list[Score]:
    """The latest score of each block, and of all together."""
    latest = {
        each.figure: each
        for each in (read_results() if results is None else results)
        if each.figure.startswith(HEAD)
    }
    scores = []
    for figure, result in latest.items():
        preset, block = figure.removeprefix(HEAD).removesuffix(END).split(", ", 1)
        judged = int(result.unit.removeprefix("of "))
        scores.append(Score(preset, block, int(result.value), judged, result))
    return scores


def mutant_scores(results: Iterable[Result] | None = None) -> str:
    """Table of the latest scores with their intervals."""
    rows = []
    for score in latest_scores(results):
        low, high = wilson(score.killed, score.judged)
        rows.append((
            score.preset, plain(score.block), score.judged, score.killed,
            f"{100 * score.killed / score.judged:.1f}" if score.judged else "",
            f"{100 * low:.1f}-{100 * high:.1f}",
            f"{score.result.date} ({score.result.revision})",
        ))  # fmt: skip
    if not rows:
        return "No score is kept yet.\n"
    columns = ("preset", "block", "mutants", "killed", "%", "95 % interval", "run")
    return table(columns, rows)
