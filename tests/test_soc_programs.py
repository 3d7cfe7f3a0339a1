"""The row of a system in the table of programs on the live systems."""

from racetrap.evaluation.noncoherent.live import LiveCase
from racetrap.evaluation.noncoherent.programs import COMPLETE
from tests.soc_programs import row_of


def _case(omission, *, harmful=False, reported=False, wrong=False, late=False, lost=0):
    return LiveCase("program", omission, harmful, reported, 1, wrong, late, lost)


def test_row_counts_each_kind():
    cases = [
        _case(COMPLETE),
        _case(COMPLETE, wrong=True),
        _case("flush", harmful=True, reported=True, wrong=True, lost=3),
        _case("sync", harmful=True, wrong=True, late=True),
        _case("padding", reported=True),
        _case("alignment"),
    ]
    assert row_of("core", cases) == "| `core` | 1 of 2 | 1 of 2 | 1 of 2 | 2; 1 | 3 |"
