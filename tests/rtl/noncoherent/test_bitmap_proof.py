"""Proofs: inside its window a bitmap is the exact set, and a query looks at all of its range.

A window of two words of 32 bytes, addresses of 16 bits.
"""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.formal.prover import holds_always, is_violated
from tests.support.noncoherent.bitmap_proof import BitmapHarness
from tests.support.noncoherent.monitor_bench import PLANTED_BUGS, modules_with

_BUGS = (
    "bitmap-misses-the-range-just-ahead",
    "bitmap-misses-the-range-before-that",
    "bitmap-puts-a-word-in-and-no-more",
    "bitmap-leaves-the-last-granule-out",
)


def _harness(bug=None, never=None):
    params = NoncoherentParams(
        mode="thesis", line_bytes=1, granule_bytes=1, address_bits=16, tag_bits=4,
        window_bytes=64, trace_port=False,
    )  # fmt: skip
    return BitmapHarness(params, modules_with(bug and PLANTED_BUGS[bug]), never)


@pytest.mark.campaign
def test_a_granule_is_in_if_it_was_put_in():
    assert holds_always(_harness(), depth=10)


@pytest.mark.campaign
@pytest.mark.parametrize("bug", _BUGS)
def test_a_bug_shows(bug):
    assert is_violated(_harness(bug), cycles=14)


@pytest.mark.campaign
@pytest.mark.parametrize("event", ["several-words", "hit", "no-hit"])
def test_what_is_proved_can_happen(event):
    assert is_violated(_harness(never=event), cycles=14)
