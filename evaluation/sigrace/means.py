"""Means of a figure over programs: all, and those of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

#: Kind of a recording that is given as a file.
_RECORDED = "recorded"


def of_kind(results: Iterable[ProgramResult], kind: str) -> list[ProgramResult]:
    """Results of the programs of a kind: regular, irregular or recorded."""
    return [result for result in results if _kind(result.program) == kind]


def _kind(program: str) -> str:
    return PROGRAMS[program].kind if program in PROGRAMS else _RECORDED


def kinds(results: Sequence[ProgramResult]) -> list[str]:
    """Kinds that have columns; recordings only if there are some."""
    return ["regular", "irregular", *[_RECORDED] * bool(of_kind(results, _RECORDED))]


def mean(
    results: Sequence[ProgramResult], figure: Callable[[ProgramResult], float | None]
) -> float | None:
    """Mean of a figure over the programs that have it."""
    values = [value for result in results if (value := figure(result)) is not None]
    return fmean(values) if values else None


def percent(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share
