"""Fence file: owners whose counters its memories cannot give at once."""

import pytest

from racetrap.golden_model.scord.fence_file import owner_conflicts
from racetrap.golden_model.scord.params import ScordParams

_WIDE = ScordParams(banks=8, words_per_cycle=8, fence_lanes=4)


@pytest.mark.parametrize(
    ("owners", "conflicts"),
    [
        ((), 0),
        (((3, 5),) * 8, 0),
        # SMs of all lanes, and warps of both memories of a lane.
        (((0, 0), (1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 1), (7, 1)), 0),
        (((0, 0), (0, 2), (1, 0)), 1),
        (((0, 0), (4, 0), (8, 2), (0, 0), (1, 1), (1, 3)), 2),
    ],
)
def test_owners_of_one_memory_conflict(owners, conflicts):
    assert owner_conflicts(_WIDE, [sm << 5 | warp for sm, warp in owners]) == conflicts


@pytest.mark.parametrize(
    ("words", "lanes", "warps", "bits"),
    [(1, 1, 32, 0), (2, 1, 32, 1), (8, 1, 32, 3), (8, 2, 32, 2), (8, 4, 32, 1), (2, 4, 32, 0),
     (8, 1, 1, 1), (8, 1, 3, 2)],
)  # fmt: skip
def test_a_memory_for_each_word(words, lanes, warps, bits):
    params = ScordParams(banks=words, words_per_cycle=words, fence_lanes=lanes, warps_per_sm=warps)
    assert params.fence_part_bits == bits
