"""Timestamps."""

from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.sigrace.packets import Relation
from racetrap.golden_model.sigrace.timestamp import generate_timestamp, relation

_timestamps = st.tuples(*[st.integers(0, 3)] * 3)


def test_relation():
    assert relation((1, 0, 0), 0, (2, 5, 0), 1) == Relation.PRECEDES
    assert relation((2, 6, 0), 0, (2, 5, 0), 1) == Relation.FOLLOWS
    assert relation((2, 5, 0), 0, (2, 5, 0), 1) == Relation.UNORDERED


@given(one=_timestamps, other=_timestamps)
def test_unordered_in_one_direction_is_unordered_in_the_other(one, other):
    forward, back = relation(one, 0, other, 2), relation(other, 2, one, 0)
    assert (forward == Relation.UNORDERED) == (back == Relation.UNORDERED)


@given(own=_timestamps, other=_timestamps, thread=st.integers(0, 2))
def test_generate_timestamp_keeps_the_threads_own_counter(own, other, thread):
    merged = generate_timestamp(own, other, thread)
    assert merged[thread] == own[thread]
    for n in range(3):
        if n != thread:
            assert merged[n] == max(own[n], other[n]), n
