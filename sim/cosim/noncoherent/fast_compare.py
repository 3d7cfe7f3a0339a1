"""Comparison of operations on the fast co-simulation with the golden model, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, Row, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters
from racetrap.sim.cosim.fast.packing import pack_records, unpack_records
from racetrap.sim.cosim.noncoherent.bus_order import BusOrder, BusRows
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.fast_simulation import BusPlay, FastSim
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
    bursts, bursts_lost : int
        Bursts on the observed bus, and those of them that found its queue full.
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
    bursts: int
    bursts_lost: int
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
    with garbage_collection_paused():
        rows = [row for operation in operations for row in rows_of(params, operation)]
        sim.software.pulse("clear_counters")
        sim.run(operations, len(rows))
    return _compared(sim, monitor, params, operations, rows)


def check_bus_run(
    sim: FastSim, monitor: Monitor, listener: AxiMonitor, params: NoncoherentParams,
    operations: Sequence[BusOperation], bus: BusPlay, coverage: Coverage | None = None,
) -> RunResult:  # fmt: skip
    """The same beside traffic on an observed bus; ``listener`` counts its bursts from reset on."""
    sim.software.pulse("clear_counters")
    sim.run(operations, 0, bus)
    with garbage_collection_paused():
        rows = [*map(Row, *unpack_records(params.row_layout, sim.step_words()))]
        seen = []
        for cycle, handshakes in sim.bus_cycles():
            derived = list(listener.cycle(handshakes))
            if coverage is not None:
                coverage.bus(handshakes, derived)
            bursts = (handshakes.read is not None) + (handshakes.write is not None)
            of_bus = [row for operation in derived for row in rows_of(params, operation)]
            seen.append(BusRows(cycle, of_bus, bursts))
        own = [[*rows_of(params, operation)] for operation in operations]
        order = BusOrder(params.bus_fifo_depth, [*filter(None, own)], seen, rows, sim.step_cycles())
        lost = order.lost()
    bursts = sum(each.bursts for each in seen)
    return _compared(sim, monitor, params, operations, rows, bursts, lost)


def _compared(
    sim: FastSim, monitor: Monitor, params: NoncoherentParams, operations: Sequence[BusOperation],
    rows: Sequence[Row], bursts: int = 0, lost: int = 0,
) -> RunResult:  # fmt: skip
    """Compare what a run has left with the golden model's steps of some rows."""
    compactions = monitor.compactions
    with garbage_collection_paused():
        steps = list(monitor.run(rows))
        _compare_steps(params, sim.step_words(), steps)
    counters = sim.software.counters()
    compare_reports(params, sim.reports(), operations, steps, counters)
    if params.observes_bus:
        compare_counters(counters, {"bursts_lost": lost})
    cycles = sim.step_cycles()
    return RunResult(
        operations=len(operations),
        rows=len(steps),
        races=sum(step.dma.found + step.cache.found for step in steps),
        compactions=monitor.compactions - compactions,
        bursts=bursts,
        bursts_lost=lost,
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
