"""Means of a figure over programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.sim.cpu.programs.catalogue import PROGRAMS


def of_kind(results: Iterable[ProgramResult], kind: str) -> list[ProgramResult]:
    """Results of the programs of a kind: regular or irregular."""
    return [result for result in results if PROGRAMS[result.program].kind == kind]


def mean(
    results: Sequence[ProgramResult], figure: Callable[[ProgramResult], float | None]
) -> float | None:
    """Mean of a figure over the programs that have it."""
    values = [value for result in results if (value := figure(result)) is not None]
    return fmean(values) if values else None


def percent(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share
