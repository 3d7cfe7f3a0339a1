"""Micro-benchmarks on the fast co-simulation."""

import pytest

from racetrap.evaluation.scord.micro_benchmarks import MicroBenchmarkRuns, run_micro_benchmark
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS, MicroBenchmark


def _run(model, name, schedules=0, seed=1):
    return run_micro_benchmark(MicroBenchmarkRuns(model, name, schedules, seed))


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_verdict_of_the_hardware(scord_tiny, name):
    verdict = _run(scord_tiny, name, schedules=40)
    assert verdict.difference == ""
    assert verdict.is_right
    assert verdict.rtl == verdict.golden == verdict.expected
    assert verdict.schedules == 2 * 3 + 40  # placements of fixed schedules, and random ones
    assert (verdict.expected == "race") == name.startswith("race_") == bool(verdict.kinds)


def test_schedules_follow_the_seed(scord_tiny):
    name = "race_interblock_lock-no-tf_waw"
    cycles = {tuple(_run(scord_tiny, name, 5, seed).cycles) for seed in (1, 1, 2, 3)}
    assert 1 < len(cycles) <= 3


def test_wrong_verdict_is_told(scord_tiny, monkeypatch):
    monkeypatch.setattr(MicroBenchmark, "is_right", lambda self, races: False)
    verdict = _run(scord_tiny, "race_interblock_blkatom")
    assert (verdict.golden_right, verdict.rtl_right, verdict.is_right) == (0, 0, False)
    assert verdict.wrong[0] == "in-order on same-sm"


def test_difference_is_told(scord_tiny, monkeypatch):
    monkeypatch.setattr(FastSim, "reports", lambda self: [])
    verdict = _run(scord_tiny, "race_interblock_blkatom")
    assert not verdict.is_right
    assert verdict.difference.startswith("in-order on same-sm: ")
    assert "Records in the ring must number" in verdict.difference
