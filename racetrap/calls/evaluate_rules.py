"""Verdicts of the oracle by each rule."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import InputError
from racetrap.evaluation.scord.programs import Schedule
from racetrap.evaluation.scord.rule_verdicts import SubjectRun, Verdicts, judge, subjects, tables
from racetrap.evaluation.table import tables_to_json

#: Any text can be part of a name.
CHOICES: tuple[str, ...] = ()


def evaluate(
    work: LongWork, names: Sequence[str] = (), *, size: str = "tiny", schedules: int = 8,
    seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Count races under each rule of the exact analysis: ScoR's programs and small kernels.

    Parameters
    ----------
    work : LongWork
        The rows.
    names : sequence of str
        Programs; by default all.
    size : str
        Size of the applications' inputs.
    schedules : int
        Schedules of each program.
    seed : int
        Seed for all random choices.
    """
    chosen = [each for each in subjects() if not names or any(name in each.name for name in names)]
    if not chosen:
        raise InputError(
            f"Text must be part of a program's name, not {' or '.join(map(repr, names))}"
        )
    own = tuple(Schedule(number, seed) for number in range(schedules))
    runs = {f"{each.group}, {each.name}": SubjectRun(each, size, own) for each in chosen}
    found = tables(work.one_each("Judging", Measure(judge, _words), runs).values())
    facts = {"size": size, "schedules": schedules, "seed": seed, "programs": len(chosen)}
    return EvaluationResult(
        name="rules", tables=found, facts=facts,
        document={**facts, "tables": tables_to_json(found)},
    )  # fmt: skip


def _words(verdicts: Verdicts) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in verdicts.races.items())
