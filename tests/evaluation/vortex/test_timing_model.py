"""ScoRD's cost on Vortex beside the timing model's: tables of made runs, and runs."""

from dataclasses import replace

import pytest

from racetrap.evaluation.vortex import timing_model
from racetrap.evaluation.vortex.timing_model import (
    MEMORIES,
    OnBoth,
    run_on_both,
    runs_on_both,
    timing_tables,
    vortex_missing,
)
from racetrap.golden_model.trace.gpu.schema import COUNTED_KINDS
from racetrap.sim.cosim.vortex.harness import build_beside
from racetrap.sim.cosim.vortex.observed import events_of, observe
from racetrap.sim.cosim.vortex.package import VortexMissing
from racetrap.sim.cosim.vortex.simulation import VortexRun
from tests.support.vortex.needs import needs_vortex


def test_an_application_runs_with_each_memory():
    runs = runs_on_both(["MM", "UTS"])
    assert [[run.memory for run in row] for row in runs.values()] == [list(MEMORIES)] * 2
    assert {run.machine.transfer for row in runs.values() for run in row} == {1}


def test_both_are_beside_each_other():
    row = [OnBoth(1000, 1200, 400, 600, 404), OnBoth(2000, 2200, 1000, 1100, 1002)]
    slowdowns, cycles = timing_tables({"MM on Vortex": row, "RED on Vortex": row[::-1]})
    assert slowdowns.rows[0] == ("MM", 1.2, 1.5, 1.01, 1.1, 1.1, 1.002)
    assert slowdowns.rows[2] == ("mean", 1.15, 1.3, 1.006, 1.15, 1.3, 1.006)
    assert cycles.rows[0] == ("MM", 1000, 400, 200, 200, 2000, 1000, 200, 100)
    assert {len(row) - len(table.columns) for table in (slowdowns, cycles)
            for row in table.rows} == {0}  # fmt: skip
    assert [table.rows for table in timing_tables({})] == [(), ()]


def test_what_is_missing_is_named(monkeypatch):
    def refuse():
        raise VortexMissing("Package must be installed")

    monkeypatch.setattr(timing_model, "vortex_source", refuse)
    assert vortex_missing() == "Package must be installed"


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_vortex) for name in ("MM", "1DC")])
def test_the_model_adds_the_cycles_that_the_verilog_adds(name):
    """Where one bank holds all up: within a tenth."""
    _, slow = map(run_on_both, runs_on_both([name])[f"{name} on Vortex"])
    _, _, on_vortex, by_model = slow.amounts
    assert by_model == pytest.approx(on_vortex, rel=0.1)
    assert abs(slow.model_no_time - slow.model) < slow.model / 100


@pytest.mark.parametrize("name", [pytest.param("RED", marks=needs_vortex)])
def test_each_instruction_is_counted_once(name):
    own, _ = runs_on_both([name])[f"{name} on Vortex"]
    run = VortexRun(
        build_beside("scord-nocache", own.params), own.program.compile(),
        replace(own.machine, jitter=0),
    )  # fmt: skip
    cores = range(own.machine.cores)
    events = events_of(run, [observe(run, core) for core in cores])
    counted = sum(event.grid_block for event in events if event.kind in COUNTED_KINDS)
    assert counted == sum(len(run.issued(core).words) for core in cores) > 2000
    run.close()
