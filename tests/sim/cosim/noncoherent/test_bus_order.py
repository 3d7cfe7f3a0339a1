"""Orders of operations of a CPU and of a bus that the rows of a run allow."""

import pytest

from racetrap.golden_model.noncoherent.packets import Row
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.noncoherent.bus_order import BusOrder, BusRows

_DEPTH = 2


def _row(number):
    return Row(1, 0, number, number + 1, 0)


def _lost(own, bus, found, cycles=None):
    """Bursts lost, of rows by number; the bus has a burst for each of its rows."""
    return BusOrder(
        _DEPTH,
        [[*map(_row, rows)] for rows in own],
        [BusRows(cycle, [*map(_row, rows)], len(rows)) for cycle, rows in bus],
        [*map(_row, found)],
        cycles or range(10, 10 + len(found)),
    ).lost()


@pytest.mark.parametrize("found", [[1, 2, 5, 6, 7], [5, 6, 1, 2, 7], [5, 6, 7, 1, 2]])
def test_rows_of_a_source_stay_together(found):
    assert _lost([[1, 2]], [(0, [5, 6]), (1, [7])], found) == 0


@pytest.mark.parametrize(
    "found",
    [
        [1, 5, 2, 6, 7],  # rows of two sources mixed
        [7, 5, 6, 1, 2],  # the bus in another order
        [1, 2, 5, 7],  # a row of a cycle is missing
        [1, 2, 5, 6],  # a cycle is missing, the queue has room
        [5, 6, 7],  # an operation is missing
        [1, 2, 5, 6, 7, 7],  # a row too many
    ],
)
def test_other_rows_are_told(found):
    with pytest.raises(Mismatch):
        _lost([[1, 2]], [(0, [5, 6]), (1, [7])], found)


def test_a_burst_is_taken_before_it_is_checked():
    with pytest.raises(Mismatch):
        _lost([], [(11, [5])], [5])


def test_cycles_that_find_the_queue_full_are_lost():
    bus = [(0, [1]), (1, [2]), (2, [3, 4]), (30, [5])]
    assert _lost([], bus, [1, 2, 5], [10, 11, 40]) == 2
    with pytest.raises(Mismatch):  # the first has left
        _lost([], bus, [1, 2, 5], [1, 11, 40])


def test_the_last_cycles_may_be_lost():
    assert _lost([], [(0, [1]), (1, [2]), (2, [3])], [1, 2]) == 1


def test_a_choice_that_fails_later_is_made_again():
    """The first row may be of the bus, but then the operation's second is missing."""
    assert _lost([[1, 2]], [(0, [1]), (1, [3])], [1, 2, 1, 3]) == 0


def test_equal_cycles_of_which_one_is_lost():
    bus = [(0, [1]), (1, [2]), (2, [3]), (30, [3]), (31, [4])]
    assert _lost([], bus, [1, 2, 3, 4], [10, 11, 40, 41]) == 1
