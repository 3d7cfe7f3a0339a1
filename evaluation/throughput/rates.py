"""Rates of simulation and of analyses, in seconds of CPU time.

CPU time, since other work on the machine would show in wall-clock time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Rate:
    """Accesses or events a second.

    Parameters
    ----------
    median, low, high : float
        Of some runs: the median, the slowest and the fastest.
    """

    median: float
    low: float
    high: float


def timed(work: Callable[[], _Result]) -> tuple[float, _Result]:
    """CPU time of ``work``, and its result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def rate(volume: int, runs: int, work: Callable[[], float]) -> Rate:
    """Rate of ``work``, which does ``volume`` and gives the seconds that it took."""
    return rate_of([volume / work() for _ in range(runs)])


def rate_of(measured: Sequence[float]) -> Rate:
    """Rates of some runs together."""
    return Rate(median(measured), min(measured), max(measured))
