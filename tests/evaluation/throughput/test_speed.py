"""Speed of simulation: measured on what agrees."""

import pytest

from racetrap.evaluation.throughput import speed
from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_named

# One process builds each system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")


@pytest.mark.parametrize(
    ("system", "preset", "size"),
    [
        ("scord", "scord-tiny", 300),
        pytest.param("scord", "scord", 300, marks=pytest.mark.campaign),
        pytest.param("sigrace", "sigrace", 2000, marks=pytest.mark.campaign),
    ],
)
def test_rates(system, preset, size):
    workload = system_named(system).own("evaluation", "throughput").WORKLOAD
    measured = speed.rates(preset, find_preset(preset).params, workload, size, runs=2)
    for rate in (measured.golden, measured.hardware, measured.together):
        assert 0 < rate.low <= rate.median <= rate.high


@pytest.mark.campaign
@pytest.mark.parametrize(("system", "size"), [("scord", 30), ("sigrace", 300)])
def test_same_trace_by_cocotb(system, size):
    # Small presets, which other tests have built too.
    measured = speed.same_trace(system_named(system), f"{system}-tiny", size)
    assert measured.fast > 0
    assert measured.cocotb > 0
