"""Tables of what detectors cost on Vortex, from made runs, and a run."""

import pytest

from racetrap.evaluation.vortex.overhead import (
    DETECTORS,
    MEMORIES,
    OverheadFound,
    OverheadRun,
    overhead_runs,
    overhead_tables,
    run_overhead,
)
from racetrap.evaluation.vortex.programs import Program
from tests.support.vortex.needs import needs_vortex

_WAITS = {"detector": 400, "front_end": 40, "fence": 8, "lock": 0, "order": 4}


def test_each_detector_runs_with_each_memory():
    runs = overhead_runs(["MM", "RED"])
    assert len(runs) == len(DETECTORS) * len(MEMORIES)
    assert len({run for row in runs.values() for run in row}) == 2 * len(runs)
    machines = {run.memory: run.machine for row in runs.values() for run in row}
    assert {machine.transfer for machine in machines.values()} == {0, 1}


def test_the_mean_is_geometric_and_waits_are_shares_of_all_cores():
    row = "overhead of ScoRD, latency 20"
    idle = dict.fromkeys(_WAITS, 0)
    found = {row: [OverheadFound(100, 200, _WAITS), OverheadFound(400, 200, idle)]}
    cycles, waits = overhead_tables(["MM", "RED"], found)
    assert cycles.rows == (("ScoRD, latency 20", 100.0, -50.0, 0.0),)
    assert waits.rows == (("ScoRD, latency 20", 25.0, 2.5, 0.5, 0.0, 0.2),)
    assert overhead_tables(["MM", "RED"], {row: found[row][:1]}) == []


@pytest.mark.parametrize("name", [pytest.param("RED", marks=needs_vortex)])
def test_metadata_that_share_the_memory_cost_more(name):
    alone, shared = (
        run_overhead(OverheadRun(Program(name), "ScoRD", each))
        for each in ("latency 20", "latency 20, shared")
    )
    assert alone.beside > alone.without
    assert shared.beside > alone.beside
    assert sum(alone.waits.values()) > 0
