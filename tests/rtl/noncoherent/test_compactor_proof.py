"""Proof: the compactor merges the pair of entries with the smallest gap, in the cycles it says."""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.formal.prover import holds_always, is_violated
from tests.support.noncoherent.compactor_proof import CompactorHarness
from tests.support.noncoherent.monitor_bench import PLANTED_BUGS, modules_with


def _harness(entries, bug=None):
    params = NoncoherentParams(entries=entries, address_bits=16, tag_bits=4)
    return CompactorHarness(params, modules_with(bug and PLANTED_BUGS[bug]))


@pytest.mark.campaign
def test_two_neighbours_with_the_smallest_gap_merge():
    assert holds_always(_harness(2), depth=24)


@pytest.mark.campaign
def test_a_larger_gap_shows():
    assert is_violated(_harness(3, "gap-is-not-the-smallest"), cycles=23)
