"""Table 7 of the SigRace paper from our own runs, and outcomes of the races.

Ref: SigRace (ISCA'09) Section 5.4.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from racetrap.evaluation.sigrace.paper import RACES
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Cell, Table
from racetrap.golden_model.sigrace.missed import RaceOutcome

_Results = Sequence[ProgramResult]


def existing_table(results: _Results) -> Table:
    """Existing races by each detector."""
    rows = [_existing_row(result) for result in results]
    return Table(
        "existing",
        "Existing races, static / dynamic (Table 7)",
        "Static: different pairs of instructions; dynamic: different addresses, threads and epochs "
        "of them. Not real: reported by SigRace or Ideal SigRace, not by the oracle. "
        "False sharing: dynamic races between different bytes of a 4-byte granule. The paper's "
        "columns are those of the application that a program is in the spirit of.",
        ("program", "exact", "Ideal SigRace", "SigRace", "W-ReEnact", "not real", "false sharing",
         "paper: application", "paper: Ideal", "paper: SigRace", "paper: W-ReEnact"),
        (*rows, _existing_total(results)),
    )  # fmt: skip


def _existing_row(result: ProgramResult) -> tuple[Cell, ...]:
    races, paper = result.existing, RACES.get(result.program)
    counts = (races.exact, races.ideal, races.sigrace, races.reenact)
    return (
        result.program, *(_pair(each.static, each.dynamic) for each in counts),
        races.unreal, races.false_sharing,
        *((paper.application, _pair(*paper.ideal), _pair(*paper.sigrace), _pair(*paper.reenact))
          if paper else (None,) * 4),
    )  # fmt: skip


def _existing_total(results: _Results) -> tuple[Cell, ...]:
    races = [result.existing for result in results]
    columns = [[getattr(each, name) for each in races] for name in _DETECTORS]
    return (
        "Total",
        *(_pair(sum(c.static for c in column), sum(c.dynamic for c in column))
          for column in columns),
        sum(each.unreal for each in races), sum(each.false_sharing for each in races),
        *(None,) * 4,
    )  # fmt: skip


_DETECTORS = ("exact", "ideal", "sigrace", "reenact")


def injected_table(results: _Results) -> Table:
    """Races after one dynamic synchronisation was taken out."""
    rows = [_injected_row(result) for result in results]
    total = map(sum, zip(*map(_injected_counts, results), strict=True))
    return Table(
        "injected",
        "Injected races (Table 7)",
        "Each run leaves out one dynamic lock and its unlock, or one barrier crossing. Counted "
        "are races whose instructions do not race in the program as it is. Racy: runs with such "
        "a race by the oracle. Static races are summed over the runs.",
        ("program", "runs", "racy", "static, exact", "static, SigRace", "static, W-ReEnact",
         "runs found, SigRace", "runs found, W-ReEnact", "not real",
         "paper: racy of 25", "paper: static, SigRace", "paper: static, W-ReEnact",
         "paper: runs, SigRace", "paper: runs, W-ReEnact"),
        (*rows, ("Total", *total, *(None,) * 5)),
    )  # fmt: skip


def _injected_row(result: ProgramResult) -> tuple[Cell, ...]:
    paper = RACES.get(result.program)
    theirs: tuple[Cell, ...] = (None,) * 5
    if paper is not None:
        sigrace, reenact = paper.injected_sigrace, paper.injected_reenact
        theirs = (paper.racy_runs, sigrace[0], reenact[0], sigrace[1], reenact[1])
    return (result.program, *_injected_counts(result), *theirs)


def _injected_counts(result: ProgramResult) -> tuple[int, ...]:
    runs = result.injected
    return (
        len(runs),
        sum(bool(run.exact.static) for run in runs),
        sum(run.exact.static for run in runs),
        sum(run.sigrace.static for run in runs),
        sum(run.reenact.static for run in runs),
        sum(bool(run.sigrace.static) for run in runs),
        sum(bool(run.reenact.static) for run in runs),
        sum(run.unreal for run in runs),
    )


def outcome_table(results: _Results) -> Table:
    """Outcomes of the oracle's races with SigRace."""
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        existing, injected = Counter(result.existing.outcomes), Counter[str]()
        for run in result.injected:
            injected.update(run.outcomes)
        for what, counts in (("existing", existing), ("injected", injected)):
            if counts:
                rows.append((result.program, what, *(counts[str(each)] for each in RaceOutcome)))
    return Table(
        "outcomes",
        "What became of the dynamic races with SigRace",
        "Queue: the older block had left its full BlockHistoryQueue before the younger one's "
        "message came. Log: the conflict log was full. Atomic: one of the accesses is atomic; "
        "these are not collected. Checkpoint: one lies between the accesses.",
        ("program", "races", *(_short(each) for each in RaceOutcome)),
        tuple(rows),
    )


def _short(outcome: RaceOutcome) -> str:
    return _SHORT[outcome]


_SHORT = {
    RaceOutcome.REPORTED: "reported",
    RaceOutcome.ATOMIC: "missed: atomic",
    RaceOutcome.CHECKPOINT: "missed: checkpoint",
    RaceOutcome.OVERFLOW: "missed: queue",
    RaceOutcome.LOG_FULL: "missed: log",
    RaceOutcome.OVERFLOW_OR_LOG_FULL: "missed: queue or log",
}


def _pair(static: int, dynamic: int) -> str:
    return f"{static:,} / {dynamic:,}" if dynamic else "–"
