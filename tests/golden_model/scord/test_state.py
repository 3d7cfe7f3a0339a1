"""State as the paper counts it."""

import pytest

from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import metadata_overhead, state_bits


def test_default_state_is_the_papers():
    bits = state_bits(ScordParams())
    assert (bits["barrier_ids"] + bits["lock_tables"]) / 8 / 15 == 152
    assert bits["fence_files"] / 8 == 720
    assert sum(bits.values()) / 8 == 3000  # "about 2.9 KB"


@pytest.mark.parametrize(
    ("granularity", "ratio", "overhead"), [(4, 16, 0.125), (4, 1, 2.0), (8, 1, 1.0), (16, 1, 0.5)]
)
def test_metadata_overhead_is_the_papers(granularity, ratio, overhead):
    params = ScordParams(granularity=granularity, ratio=ratio)
    assert metadata_overhead(params) == overhead


def test_each_bank_has_a_fence_file():
    assert state_bits(ScordParams(banks=4))["fence_files"] == 4 * 5760
