"""Micro-benchmarks on the fast co-simulation."""

import pytest

from racetrap.evaluation.campaign.micro_benchmarks import run_micro_benchmark
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS, MicroBenchmark


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_verdict_of_the_hardware(scord_tiny, name):
    result = run_micro_benchmark(scord_tiny, name, schedules=20, seed=1)
    assert result.difference == ""
    assert result.runs == result.right == 2 * (3 + 20)  # placements, fixed and random schedules
    assert result.racy == name.startswith("race_")


def test_schedules_follow_the_seed(scord_tiny):
    name = "race_interblock_lock-no-tf_waw"
    cycles = {
        run_micro_benchmark(scord_tiny, name, schedules=5, seed=seed).cycles
        for seed in (1, 1, 2, 3)
    }
    assert 1 < len(cycles) <= 3


def test_wrong_verdict_is_told(scord_tiny, monkeypatch):
    monkeypatch.setattr(MicroBenchmark, "is_right", lambda self, races: False)
    result = run_micro_benchmark(scord_tiny, "race_interblock_blkatom", schedules=0, seed=1)
    assert result.right == 0
    assert result.difference == "same-sm, in-order: wrong verdict"


def test_difference_is_told(scord_tiny, monkeypatch):
    monkeypatch.setattr(FastSim, "reports", lambda self: [])
    result = run_micro_benchmark(scord_tiny, "race_interblock_blkatom", schedules=0, seed=1)
    assert result.right == 0
    assert "Records in the ring must number" in result.difference
