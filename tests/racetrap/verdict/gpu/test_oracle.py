"""Reports of a detector that the oracle confirms, and those imposed by the method."""

import pytest

from racetrap.golden_model.events import MemoryOrder
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.sim.gpu.oracle import JUDGE, PAPER_RULE, run_oracle
from racetrap.verdict.gpu.oracle import racing_pairs, unconfirmed
from racetrap.verdict.scord.imposed import imposed_by_method
from tests.support.oracle.programs import Program

STORE, LOAD, OTHER = 0x40, 0x44, 0x48
REPORT = LOAD, int(RaceKind.MISSING_DEVICE_FENCE)


def _trace(order):
    """A store and a load that conflict, and no more."""
    program = Program()
    program.store((0, 0), 0x80, pc=STORE, order=order)
    program.load((1, 0), 0x80, pc=LOAD, order=order)
    return program.trace


def test_a_report_is_confirmed_by_the_same_pair_alone():
    races = racing_pairs(run_oracle(_trace(MemoryOrder.IMPLIED), JUDGE))
    assert races == {(STORE, LOAD)}
    assert unconfirmed({REPORT: {STORE}}, races) == []
    assert unconfirmed({REPORT: {OTHER, STORE}}, races) == []
    assert unconfirmed({REPORT: {OTHER}}, races) == [REPORT]
    assert unconfirmed({(OTHER, 1): {STORE}, REPORT: {LOAD}}, races) == [REPORT, (OTHER, 1)]


@pytest.mark.parametrize(
    ("earlier", "order", "rule", "is_imposed"),
    [
        (STORE, MemoryOrder.IMPLIED, JUDGE, True),  # by the paper's rule
        (OTHER, MemoryOrder.IMPLIED, JUDGE, False),
        (OTHER, MemoryOrder.RELAXED, JUDGE, True),
        (STORE, MemoryOrder.IMPLIED, PAPER_RULE, False),
    ],
)
def test_imposed_by_method(earlier, order, rule, is_imposed):
    assert imposed_by_method(_trace(order), rule, {REPORT: {earlier}}) == [REPORT] * is_imposed
