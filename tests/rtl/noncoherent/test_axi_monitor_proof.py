"""Proof: each burst of an observed bus is handed out, held, or counted as lost; by induction."""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.formal.prover import holds_always, is_violated
from tests.support.noncoherent.bus_bench import monitor_module
from tests.support.noncoherent.bus_proof import BusHarness

_PARAMS = NoncoherentParams(
    engines=2, address_bits=16, tag_bits=4, observes_bus=True, bus_fifo_depth=2, entries=2
)


@pytest.mark.campaign
def test_no_burst_is_missed():
    assert holds_always(BusHarness(_PARAMS, monitor_module(None)), depth=3)


@pytest.mark.campaign
@pytest.mark.parametrize("bug", ["write-beside-a-read-is-lost", "loss-is-not-counted"])
def test_a_burst_that_is_missed_shows(bug):
    assert is_violated(BusHarness(_PARAMS, monitor_module(bug)), cycles=8)


@pytest.mark.campaign
def test_a_burst_can_be_lost():
    harness = BusHarness(_PARAMS, monitor_module(None), never_loses=True)
    assert is_violated(harness, cycles=8)
