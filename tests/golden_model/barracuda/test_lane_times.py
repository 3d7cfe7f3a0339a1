"""Compact times of lanes against arrays of 32."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.barracuda.lane_times import (
    Split,
    Times,
    adds,
    later,
    of_lane,
    outside,
    split,
)
from racetrap.golden_model.events import ALL_LANES

_TIME = st.integers(0, 4)
_MASK = st.sampled_from([0b1, 0b10, 0xFFFF, ALL_LANES - 1])
_TIMES = st.one_of(
    _TIME,
    st.builds(Split, _MASK, _TIME, _TIME),
    st.lists(_TIME, min_size=32, max_size=32).map(np.array),
)


def _whole(times: Times) -> np.ndarray:
    return np.array([of_lane(times, lane) for lane in range(32)])


@given(one=_TIMES, other=_TIMES)
def test_comparing_and_joining(one, other):
    assert adds(one, other) == bool((_whole(one) > _whole(other)).any())
    assert (_whole(later(one, other)) == np.maximum(_whole(one), _whole(other))).all()


@given(mask=_MASK, inside=_TIME, times=_TIMES)
def test_splitting_keeps_the_other_lanes(mask, inside, times):
    others = outside(times, mask)
    parts = _whole(split(mask, inside, others))
    own = mask >> np.arange(32) & 1 == 1
    assert (parts[own] == inside).all()
    assert (parts[~own] == _whole(times)[~own]).all()


def test_simplest_form():
    assert split(ALL_LANES, 5, 3) == 5
    assert split(0b1, 5, 3) == Split(0b1, 5, 3)
    assert outside(Split(0b1, 5, 3), 0b1) == 3
    assert isinstance(outside(Split(0b1, 5, 3), 0b10), np.ndarray)
    assert outside(Split(0b1, 5, 3), ALL_LANES) == 0
