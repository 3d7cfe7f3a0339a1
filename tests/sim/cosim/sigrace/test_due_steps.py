"""Steps of a message: each scanner's in order, the end last."""

import pytest

from racetrap.golden_model.sigrace.packets import RdmStep, RdmStepKind
from racetrap.sim.cosim.sigrace.due_steps import DueSteps


def _step(other, position, kind=RdmStepKind.COMPARE):
    return RdmStep(int(kind), 0, 0, 0, 0, 1, other, position)


_STEPS = [_step(1, 0), _step(1, 1), _step(2, 0), _step(3, 0), _step(0, 0, RdmStepKind.PUSH)]


def _due(scanners):
    due = DueSteps(scanners)
    due.begin(_STEPS)
    return due


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (2, 0, 1, 3, 4), (0, 2, 1, 3, 4)])
def test_scanners_of_two_memories_go_ahead_of_each_other(order):
    due = _due(2)
    for number in order:
        assert due.take(_STEPS[number]) == _STEPS[number]
    assert len(due) == 0


@pytest.mark.parametrize(("scanners", "order"), [(1, (2,)), (2, (1,)), (2, (3,)), (2, (0, 4))])
def test_steps_of_a_scanner_come_in_order_and_the_end_last(scanners, order):
    due = _due(scanners)
    *before, last = order
    for number in before:
        due.take(_STEPS[number])
    assert due.take(_STEPS[last]) != _STEPS[last]


def test_what_is_missing_is_named():
    due = _due(3)
    for number in (2, 0):
        due.take(_STEPS[number])
    assert (len(due), due.next()) == (3, _STEPS[1])
