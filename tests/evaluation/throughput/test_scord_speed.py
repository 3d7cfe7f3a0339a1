"""Rates: measured on launches that agree, in whatever golden model the process has."""

import pytest

from racetrap.evaluation.throughput import rates as fast_rates
from racetrap.evaluation.throughput import scord_speed as speed
from racetrap.evaluation.throughput.rates import Rate
from racetrap.evaluation.throughput.scord_speed import cocotb, rates
from racetrap.generators.presets import SCORD_PRESETS
from racetrap.sim.cosim.verilator.build_cache import BuildError

# One process builds the system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")


def test_rates():
    measured = rates(instructions=300, runs=2)
    assert not measured.compiled
    assert measured.together.median < measured.hardware.median
    assert measured.golden.low <= measured.golden.median <= measured.golden.high


@pytest.mark.parametrize("compiled", [False, True])
def test_child_runs_the_model_asked_for(monkeypatch, compiled):
    if compiled:
        pytest.importorskip("mypyc")
    seen = []

    class Done:
        returncode, stderr = 0, ""
        stdout = (
            '{"compiled": false, "golden": {"median": 2, "low": 1, "high": 3}, '
            '"hardware": {"median": 2, "low": 1, "high": 3}, '
            '"together": {"median": 2, "low": 1, "high": 3}}'
        )

    monkeypatch.setattr(
        fast_rates.subprocess, "run", lambda *command, **_: seen.extend(command) or Done
    )
    assert speed.rates_in_child(compiled).golden == Rate(2, 1, 3)
    assert ("racetrap.sim.cosim.verilator.compiled" in seen[0]) == compiled


def test_failed_child(monkeypatch):
    monkeypatch.setattr(fast_rates.sys, "executable", "/bin/false")
    with pytest.raises(BuildError, match=r"Measurement \S+scord_speed failed"):
        speed.rates_in_child(False)


def test_same_trace_by_cocotb(monkeypatch):
    # A small preset, which other tests have built too.
    monkeypatch.setattr(speed, "_PRESET", "scord-tiny")
    monkeypatch.setattr(speed, "_PARAMS", SCORD_PRESETS["scord-tiny"].params)
    monkeypatch.setattr(speed, "_FEW_INSTRUCTIONS", 30)
    measured = cocotb("racetrap.tb.scord.random_tests")
    assert measured.fast > 2 * measured.cocotb > 0
