"""The interval set against a dictionary of bytes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.noncoherent.races import Origin
from tests.support.noncoherent.plain.interval_set import IntervalSet

_RANGES = st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda r: (r[0], r[0] + r[1]))
_STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove", "look"]), _RANGES, st.integers(0, 2)))


def _bytes(runs):
    return {byte: run.origin.place for run in runs for byte in range(run.first, run.last + 1)}


@given(_STEPS)
def test_against_bytes(steps):
    runs, model = IntervalSet(), {}
    for number, (what, (first, last), pc) in enumerate(steps):
        origin = Origin(number, 0, 0, pc)
        touched = range(first, last + 1)
        if what == "add":
            runs.add(first, last, origin)
            model |= dict.fromkeys(touched, origin.place)
        elif what == "remove":
            runs.remove(first, last)
            model = {byte: place for byte, place in model.items() if byte not in touched}
        else:
            met = {byte: place for byte, place in model.items() if byte in touched}
            assert _bytes(runs.overlaps(first, last)) == met
        assert _bytes(runs) == model
        found = list(runs)
        for one, other in pairwise(found):
            assert one.last < other.first
            is_one_place = one.origin.place == other.origin.place
            assert not (is_one_place and one.last + 1 == other.first)


def test_neighbours_of_one_place_are_one_run_with_the_latest_number():
    runs = IntervalSet()
    runs.add(0, 3, Origin(1, 1, 0, 0x40))
    runs.add(8, 11, Origin(2, 1, 0, 0x40))
    runs.add(4, 7, Origin(3, 1, 0, 0x40))
    assert [(run.first, run.last, run.origin.number) for run in runs] == [(0, 11, 3)]
    runs.clear()
    assert len(runs) == 0
