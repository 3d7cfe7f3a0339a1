"""Rates of simulation: measured on events that agree."""

import pytest

from racetrap.evaluation.throughput import sigrace_speed as speed
from racetrap.evaluation.throughput.sigrace_speed import cocotb, rates
from racetrap.generators.presets import SIGRACE_PRESETS

# One process builds the system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")


def test_rates():
    measured = rates(actions=2000, runs=1)
    assert not measured.compiled
    assert measured.together.median < measured.golden.median
    assert measured.together.median < measured.hardware.median


def test_same_events_by_cocotb(monkeypatch):
    # A small preset, which other tests have built too.
    monkeypatch.setattr(speed, "_PRESET", "sigrace-tiny")
    monkeypatch.setattr(speed, "_PARAMS", SIGRACE_PRESETS["sigrace-tiny"].params)
    monkeypatch.setattr(speed, "_FEW_ACTIONS", 300)
    measured = cocotb("racetrap.tb.sigrace.random_tests")
    assert measured.fast > 2 * measured.cocotb > 0
