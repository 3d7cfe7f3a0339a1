"""Proofs: what an interval CAM keeps is a superset of the exact set, whatever is done to it.

Sets of two and three entries, addresses of 16 bits; ``Compactor`` stands for itself in a proof of
its own, and for any merge of two neighbours here.
"""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.formal.prover import holds_always, is_violated
from tests.support.noncoherent.cam_proof import CamHarness
from tests.support.noncoherent.monitor_bench import PLANTED_BUGS, modules_with

_BUGS = (
    "neighbours-do-not-merge",
    "removal-drops-instead-of-shrinking",
    "split-loses-its-upper-part",
    "merged-entry-claims-to-be-precise",
    "comparison-misses-what-is-new",
    "comparison-takes-the-range-before-for-the-one-ahead",
    "comparison-sees-what-is-lost",
    "comparison-misses-what-is-cut",
    "comparison-takes-the-range-for-the-union",
)


def _harness(bug=None, never=None, entries=2):
    params = NoncoherentParams(entries=entries, address_bits=16, tag_bits=4, trace_port=False)
    return CamHarness(params, modules_with(bug and PLANTED_BUGS[bug]), never)


@pytest.mark.campaign
@pytest.mark.parametrize("entries", [2, 3])
def test_no_byte_is_lost_and_none_is_claimed(entries):
    assert holds_always(_harness(entries=entries), depth=6)


@pytest.mark.parametrize("bug", _BUGS)
@pytest.mark.campaign
def test_a_bug_loses_or_claims_a_byte(bug):
    assert is_violated(_harness(bug, entries=3), cycles=10)


@pytest.mark.campaign
@pytest.mark.parametrize("event", ["split", "merge", "compact", "possible"])
def test_what_is_proved_can_happen(event):
    assert is_violated(_harness(never=event), cycles=10)
