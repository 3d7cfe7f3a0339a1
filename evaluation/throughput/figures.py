"""Figures of `racetrap bench`: what measures each of them, by its key in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from racetrap.evaluation.table import Cell
from racetrap.evaluation.throughput import speed
from racetrap.generators.system import System
from racetrap.generators.systems import system_named

#: Size of the applications and programs.
SIZE = "small"
#: Title, columns and rows.
BenchTable: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[Cell]]]


def measurements(
    system: System[Any], latency: int | None = None
) -> Mapping[str, Callable[[], Any]]:
    """What measures each figure of a detector.

    Parameters
    ----------
    system : System
        The detector; its folder of ``evaluation`` has a ``throughput``.
    latency : int, optional
        Cycles after which memory answers, where metadata are in memory.
    """
    own = system.own("evaluation", "throughput")
    measured = {"speed": partial(speed.speed, system)} if own.WORKLOAD else {}
    return {**measured, **own.measurements(latency)}


def measure_figure(job: tuple[str, str, int | None]) -> Any:
    """A figure of a detector, by the name of both, with memory that answers after some cycles."""
    system, figure, latency = job
    return measurements(system_named(system), latency)[figure]()
