"""The generated hardware on whole traces, each step compared with the golden model.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.verdict.gpu.findings import Finding, UniqueRace
from racetrap.verdict.gpu.fit import kernels_of, region_of
from racetrap.verdict.gpu.simulated_trace import KernelRun, SimulatedTrace, join_kernels
from racetrap.verdict.scord.findings import ScordFinder, steps_of_event

_CAPACITY_LOG2 = 12


@dataclass(frozen=True)
class HardwareRun:
    """Result of a trace on the hardware.

    Parameters
    ----------
    races : set of UniqueRace
        Unique races in the report ring.
    accesses, steps, cycles : int
        Accesses checked, steps compared, and clock cycles that they took.
    dropped : int
        Reports dropped because the ring was full.
    """

    races: set[UniqueRace]
    accesses: int
    steps: int
    cycles: int
    dropped: int


def run_hardware(model: FastModel[ScordParams], trace: Trace, seed: int) -> HardwareRun:
    """Play a trace, kernel by kernel, in its global order.

    The report filter is on, so that the ring holds each unique race once.

    Parameters
    ----------
    model : FastModel
        The hardware.
    trace : Trace
        Run to check.
    seed : int
        Seed of the simulation's randomness (unreset state).

    Raises
    ------
    Mismatch
        If hardware and golden model differ anywhere.
    SimulationError
        If the simulation cannot continue.
    """
    races: set[UniqueRace] = set()
    accesses = steps = cycles = dropped = 0
    for sim, _, result in _launches(model, trace, region_of(trace), seed, report_filter=True):
        races |= {RaceReport.from_record(record).key for record in result.reports}
        accesses += result.accesses
        steps += result.steps
        cycles += result.cycles
        dropped += sim.read("REPORTS_DROPPED")
    return HardwareRun(races, accesses, steps, cycles, dropped)


def simulate_trace(
    model: FastModel[ScordParams],
    trace: Trace,
    seed: int,
    found: Callable[[Finding], object],
    region: MonitoredRegion | None = None,
) -> SimulatedTrace:
    """As :func:`run_hardware`; ``found`` receives every race of the hardware's steps with both its
    accesses.  ``region`` is monitored instead of the trace's own."""
    region = region or region_of(trace)
    finder = ScordFinder(model.params, region, trace)
    kernels = _launches(model, trace, region, seed)
    return join_kernels(kernels, finder, steps_of_event, found, model.params.leaves_out)


def _launches(
    model: FastModel[ScordParams],
    trace: Trace,
    region: MonitoredRegion,
    seed: int,
    report_filter: bool = False,
) -> Iterator[KernelRun]:
    """Play each kernel; yield the simulation, the kernel's events and the amounts compared."""
    with FastSim(model, seed) as sim:
        for events in kernels_of(trace):
            transactions = list(transactions_of(events, model.params))
            yield sim, events, check_launch(
                sim, model.params, region, transactions,
                in_order=True, capacity_log2=_CAPACITY_LOG2, report_filter=report_filter,
            )  # fmt: skip
