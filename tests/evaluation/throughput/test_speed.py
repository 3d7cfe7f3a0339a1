"""Speed of simulation: measured on what agrees."""

import pytest

from racetrap.evaluation.throughput import speed
from racetrap.generators.systems import system_named

# One process builds each system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")

_SIZES = {"scord": 300, "sigrace": 2000}


@pytest.mark.parametrize("name", ["scord", pytest.param("sigrace", marks=pytest.mark.campaign)])
def test_rates(name):
    system = system_named(name)
    workload = system.own("evaluation", "throughput").WORKLOAD
    measured = speed.rates(name, system.presets[name].params, workload, _SIZES[name], runs=2)
    for rate in (measured.golden, measured.hardware, measured.together):
        assert 0 < rate.low <= rate.median <= rate.high


@pytest.mark.campaign
@pytest.mark.parametrize(("system", "size"), [("scord", 30), ("sigrace", 300)])
def test_same_trace_by_cocotb(system, size):
    # Small presets, which other tests have built too.
    measured = speed.same_trace(system_named(system), f"{system}-tiny", size)
    assert measured.fast > 0
    assert measured.cocotb > 0
