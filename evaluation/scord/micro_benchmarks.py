"""The ScoR micro-benchmarks on the fast co-simulation, each run compared with the golden model.

Ref: ScoRD (ISCA'20) Section V.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.evaluation.scord.verdicts import Verdict
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.sim.cosim.scord.suite import SuiteRun, suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region


@dataclass(frozen=True)
class MicroBenchmarkRuns:
    """All runs of one micro-benchmark; plain data, for a worker process.

    Parameters
    ----------
    model : FastModel
        Hardware to run.
    name : str
        Name of the micro-benchmark.
    schedules, seed : int
        As of ``suite_runs``.
    """

    model: FastModel[ScordParams]
    name: str
    schedules: int
    seed: int


def run_micro_benchmark(runs: MicroBenchmarkRuns) -> Verdict:
    """Run one micro-benchmark in all its schedules and placements; a difference is a result."""
    params = runs.model.params
    verdict = Verdict(runs.name)
    with FastSim(runs.model, runs.seed) as sim:
        for run in suite_runs(params, runs.schedules, runs.seed):
            if run.benchmark.name != runs.name:
                continue
            try:
                _run(sim, params, run, verdict)
            except (Mismatch, SimulationError) as error:
                verdict.difference = f"{run.schedule} on {run.placement.value}: {error}"
                break
    return verdict


def _run(sim: FastSim, params: ScordParams, run: SuiteRun, verdict: Verdict) -> None:
    events, region = run.events(), program_region()
    golden = Scord(params, region)
    for event in events:
        golden.run(event)
    result = check_launch(sim, params, region, transactions_of(events, params), in_order=True)
    reports = list(map(RaceReport.from_record, result.reports))
    verdict.add(f"{run.schedule} on {run.placement.value}", golden.races, reports, result.cycles)
