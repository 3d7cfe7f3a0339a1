"""The ScoR micro-benchmarks on the fast co-simulation, under many schedules.

Ref: ScoRD (ISCA'20) Section V.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import (
    FIXED_SCHEDULES,
    Placement,
    Schedule,
    random_schedule,
    run,
)

__all__ = ["SuiteResult", "run_micro_benchmark"]


@dataclass(frozen=True)
class SuiteResult:
    """One micro-benchmark under all its schedules.

    Parameters
    ----------
    name : str
        Name of the micro-benchmark.
    racy : bool
        Whether it has a race.
    runs, right : int
        Runs, and those in which the hardware's reports were the verdict expected.
    cycles : int
        Clock cycles of all runs.
    seconds : float
        Time for all runs.
    difference : str
        First difference from the golden model or first wrong verdict; empty if there is none.
    """

    name: str
    racy: bool
    runs: int
    right: int
    cycles: int
    seconds: float
    difference: str


def _schedules(name: str, seed: int, count: int) -> Iterator[tuple[str, Schedule]]:
    yield from FIXED_SCHEDULES.items()
    for number in range(count):
        yield f"random {number}", random_schedule(_schedule_seed(name, seed, number))


def _schedule_seed(name: str, seed: int, number: int) -> int:
    """Seed of one schedule; the same in every process, unlike ``hash``."""
    return int.from_bytes(f"{name} {seed} {number}".encode(), "little")


def run_micro_benchmark(model: FastModel, name: str, *, schedules: int, seed: int) -> SuiteResult:
    """Run one micro-benchmark under the fixed and ``schedules`` random schedules, with its
    blocks on one SM and on different ones; each run is compared with the golden model."""
    benchmark = MICRO_BENCHMARKS[name]
    region = program_region()
    started = time.perf_counter()
    runs = right = cycles = 0
    difference = ""
    with FastSim(model, seed) as sim:
        for placement in Placement:
            for label, schedule in _schedules(name, seed, schedules):
                events = run(benchmark, schedule, placement)
                runs += 1
                try:
                    transactions = transactions_of(events, model.params)
                    result = check_launch(sim, model.params, region, transactions, in_order=True)
                except (Mismatch, SimulationError) as error:
                    difference = difference or f"{placement.value}, {label}: {error}"
                    break
                cycles += result.cycles
                if benchmark.is_right(map(RaceReport.from_record, result.reports)):
                    right += 1
                else:
                    difference = difference or f"{placement.value}, {label}: wrong verdict"
    seconds = time.perf_counter() - started
    return SuiteResult(name, benchmark.racy, runs, right, cycles, seconds, difference)
