"""Comparison of operations on the fast co-simulation with the golden model, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import pack_records
from racetrap.sim.cosim.noncoherent.fast_simulation import FastSim
from racetrap.sim.cosim.noncoherent.report_compare import compare_reports


@dataclass(frozen=True)
class RunResult:
    """Amounts compared in a run.

    Parameters
    ----------
    operations, rows, races : int
        Operations, their rows, and rules broken, definitely or possibly.
    compactions : int
        How often two entries of a full set were merged.
    cycles : int
        Clock cycles from the first step to the last.
    digest : int
        Digest of the simulation's transfers so far, with their cycles.
    steps : tuple of MonitorStep
        The steps.
    """

    operations: int
    rows: int
    races: int
    compactions: int
    cycles: int
    digest: int
    steps: tuple[MonitorStep, ...]


def check_run(
    sim: FastSim, monitor: Monitor, params: NoncoherentParams, operations: Sequence[BusOperation]
) -> RunResult:
    """Play operations on both and compare steps, reports and counters.

    The monitor continues in its state; the hardware must have been started together with it.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    compactions = monitor.compactions
    with garbage_collection_paused():
        rows = [row for operation in operations for row in rows_of(params, operation)]
        steps = list(monitor.run(rows))
        sim.software.pulse("clear_counters")
        sim.run(operations, len(steps))
        _compare_steps(params, sim.step_words(), steps)
    counters = sim.software.counters()
    compare_reports(params, sim.reports(), operations, steps, counters)
    cycles = sim.step_cycles()
    return RunResult(
        operations=len(operations),
        rows=len(steps),
        races=sum(step.dma.found + step.cache.found for step in steps),
        compactions=monitor.compactions - compactions,
        cycles=cycles[-1] - cycles[0] + 1 if cycles else 0,
        digest=sim.stats.digest,
        steps=tuple(steps),
    )


def _leaves(values: Any) -> list[int]:
    """Numbers of a tuple of tuples, in order."""
    return [
        leaf
        for value in values
        for leaf in (_leaves(value) if isinstance(value, tuple) else [value])
    ]


def _compare_steps(
    params: NoncoherentParams, words: np.ndarray, steps: Sequence[MonitorStep]
) -> None:
    columns = list(zip(*map(_leaves, steps), strict=True)) if steps else []
    due = pack_records(params.step_layout, columns) if steps else np.zeros((0, words.shape[1]))
    if len(words) != len(due):
        raise Mismatch(f"Steps must number {len(due)}, not {len(words)}")
    wrong = np.flatnonzero((words != due).any(axis=1))
    if len(wrong):
        at = int(wrong[0])
        found = int.from_bytes(words[at].tobytes(), "little")
        raise Mismatch(
            f"Step {at} must be {_named(steps[at])}, not {params.step_layout.unpack(found)}"
        )


def _named(step: MonitorStep) -> dict[str, Any]:
    return {
        "row": step.row._asdict(), "dma": step.dma._asdict(), "cache": step.cache._asdict(),
        "digest": step.digest,
    }  # fmt: skip
