"""The generated hardware on whole traces: its reports are those of the golden model, in order.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import Transaction
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.causality.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.causality.fast_simulation import FastSim
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.verdict.causality.findings import CausalityFinder
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import kernels_of, region_with_window
from racetrap.verdict.gpu.simulated_trace import SimulatedTrace

_CAPACITY_LOG2 = 12


class _Races:
    """Observer of a comparison: reports of the races that the hardware's collector finds."""

    def __init__(self, params: CausalityParams) -> None:
        self._params = params
        self.found: list[RaceReport] = []

    def race(self, race: Race) -> None:
        """A race that the collector has found."""
        self.found.append(RaceReport.from_race(self._params, race))

    def transaction(self, sm: int, transaction: Transaction) -> None:
        """Nothing to note."""

    def step(self, bank: int, step: Step) -> None:
        """Nothing to note."""

    def report(self, report: Any) -> None:
        """Nothing to note: it has been compared."""

    def finish(self, counters: Mapping[str, int]) -> None:
        """Nothing to note."""


def simulate_trace(
    model: FastModel[CausalityParams],
    trace: Trace,
    seed: int,
    found: Callable[[Finding], object],
) -> SimulatedTrace:
    """Play a trace, kernel by kernel, in its global order.

    Parameters
    ----------
    model : FastModel
        The hardware; its lanes are independent or not as those of the trace.
    trace : Trace
        Run to check.
    seed : int
        Seed of the simulation's randomness (unreset state).
    found : callable
        Receives every race that the hardware has found, with both its accesses.

    Raises
    ------
    Mismatch
        If hardware and golden model differ anywhere.
    SimulationError
        If the simulation cannot continue.
    """
    params, region = model.params, region_with_window(trace, model.params)
    golden = Causality(params, region, keep_races=False)
    finder = CausalityFinder(params, region, trace)
    number = steps = cycles = 0
    with FastSim(model, seed) as sim:
        for kernel, events in enumerate(kernels_of(trace)):
            races, due = _Races(params), []
            result = check_launch(
                sim, params, region, transactions_of(events, params),
                in_order=True, capacity_log2=_CAPACITY_LOG2, observer=races,
            )  # fmt: skip
            for event in events:
                for finding in finder.take(number, event, [*golden.run(event), *golden.found]):
                    found(finding)
                due += [RaceReport.from_race(params, race) for race in golden.found]
                number += 1
            if due != races.found:
                raise Mismatch(f"Races of kernel {kernel} must be {due}, not {races.found}")
            steps += result.steps
            cycles += result.cycles
    return SimulatedTrace(steps, cycles, None)
