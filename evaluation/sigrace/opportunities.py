"""Figure 9 beside Table 7: which detector the former predicts to find more races, and which does.

Ref: SigRace (ISCA'09) Sections 5.4.1 and 5.4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from racetrap.evaluation.sigrace import paper
from racetrap.evaluation.sigrace.caches import CHOSEN_CACHE
from racetrap.evaluation.sigrace.line_tables import per_million, still_cached
from racetrap.evaluation.sigrace.means import mean
from racetrap.evaluation.sigrace.races import Existing, Injected
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Cell, Table

_Results = Sequence[ProgramResult]


class _Losses(NamedTuple):
    """Lines for each million instructions that the detectors lose; ``product``: SigRace's by the
    paper's formula."""

    reenact: float | None
    sigrace: float | None
    product: float | None

    @property
    def predicted(self) -> str | None:
        """The one that loses less."""
        return _larger(self.reenact, self.sigrace)


class _Found(NamedTuple):
    """Static races that the detectors find, existing and injected ones."""

    sigrace: int
    reenact: int

    @property
    def winner(self) -> str | None:
        return _larger(self.sigrace, self.reenact)


def figure_9(results: _Results) -> Table:
    """Opportunities that each detector loses, beside the races of Table 7."""
    rows = [
        _prediction_row(result.program, _losses(result), _found([result])) for result in results
    ]
    theirs = _Found(paper.STATIC_SIGRACE, paper.STATIC_REENACT)
    return Table(
        "figure-9",
        "Lines with which a detector loses an opportunity, for each million instructions, with "
        "caches of 32 KB, and the races of Table 7 (Section 5.4.2)",
        "W-ReEnact loses lines that leave the cache and are in the queue: (a) times (b). SigRace "
        "loses lines with shared data that leave the queue and are in the cache; the paper takes "
        "(c) times (d) times the number of blocks for it. Who loses less finds more, the figure "
        f"says. Static: existing and injected races together. {prediction(results)}",
        ("program", "W-ReEnact loses", "SigRace loses", "c x d x blocks", "predicted",
         "static, SigRace", "static, W-ReEnact", "more races"),
        (*rows,
         _prediction_row("Mean of programs, sum of races", _mean_losses(results), _found(results)),
         ("Paper", paper.REENACT_LOSES, None, paper.SIGRACE_LOSES,
          _larger(paper.REENACT_LOSES, paper.SIGRACE_LOSES), *theirs, theirs.winner)),
    )  # fmt: skip


def _prediction_row(name: str, losses: _Losses, found: _Found) -> tuple[Cell, ...]:
    return (name, *losses, losses.predicted, *found, found.winner)


def prediction(results: _Results) -> str:
    """Which detector Figure 9 predicts to win Table 7, and whether it did, in sentences."""
    losses, found = _mean_losses(results), _found(results)
    claim = f"{losses.predicted} finds more" if losses.predicted else "both find as many"
    outcome = "holds" if losses.predicted == found.winner else "does not hold"
    told = [
        _losses(result).predicted == winner
        for result in results
        if (winner := _found([result]).winner)
    ]
    return (
        f"On average W-ReEnact loses {losses.reenact or 0:,.0f} and SigRace "
        f"{losses.sigrace or 0:,.0f} lines: Figure 9 predicts that {claim} races, which {outcome} "
        f"(SigRace {found.sigrace:,}, W-ReEnact {found.reenact:,} static races). Of the "
        f"{len(told)} programs in which they find different numbers the prediction holds for "
        f"{sum(told)}."
    )


def _losses(result: ProgramResult) -> _Losses:
    lines = result.figures.lines
    counts = lines.caches[CHOSEN_CACHE]
    share, shared = still_cached(lines, counts), per_million(lines, lines.shared_lines)
    return _Losses(
        per_million(lines, counts.queued),
        per_million(lines, counts.cached_shared),
        None if share is None or shared is None else share * shared,
    )


def _mean_losses(results: _Results) -> _Losses:
    return _Losses(
        mean(results, lambda result: _losses(result).reenact),
        mean(results, lambda result: _losses(result).sigrace),
        mean(results, lambda result: _losses(result).product),
    )


def _found(results: _Results) -> _Found:
    runs: list[Existing | Injected] = [result.existing for result in results]
    runs += [run for result in results for run in result.injected]
    return _Found(sum(run.sigrace.static for run in runs), sum(run.reenact.static for run in runs))


def _larger(for_sigrace: float | None, for_reenact: float | None) -> str | None:
    """The detector for which the larger number speaks; None if neither does."""
    if for_sigrace is None or for_reenact is None or for_sigrace == for_reenact:
        return None
    return "SigRace" if for_sigrace > for_reenact else "W-ReEnact"
