"""The page on the suite is what the suite gives, and explains every difference."""

import pytest

from racetrap.golden_model.events import Space
from racetrap.sim.gpu.suites.concurrency.cases import CASES, INTER_BLOCK, NONE, Case
from racetrap.sim.gpu.suites.concurrency.docs import remarks, suite_page
from racetrap.sim.gpu.suites.concurrency.runner import CaseOutcome
from tests.support import REPOSITORY

PAGE = REPOSITORY / "docs" / "concurrency-suite.md"
COMMAND = "python -m racetrap.sim.gpu.suites.concurrency.docs docs/concurrency-suite.md"

pytestmark = pytest.mark.xdist_group("concurrency")


def test_page_is_current(outcome):
    outcomes = {name: outcome(name) for name in CASES}
    assert PAGE.read_text(encoding="utf-8") == suite_page(outcomes), f"run `{COMMAND}`"


def test_every_difference_of_scord_has_a_reason(outcome):
    for name, case in CASES.items():
        found = outcome(name)
        differs = bool(found.scord) != bool(found.scoped)
        assert ("ScoRD:" in remarks(case, found)) == differs, name
        if case.scord_reason:
            assert case.scord_reason in remarks(case, found), name


@pytest.mark.parametrize(
    ("outcome_", "remark"),
    [
        (CaseOutcome(scoped=INTER_BLOCK, spaces=frozenset({Space.SHARED})), "not monitored"),
        (CaseOutcome(scord=frozenset({"not-strong"})), "mine"),
        (CaseOutcome(scoped=INTER_BLOCK, spaces=frozenset({Space.GLOBAL})), "mine"),
    ],
)
def test_reason_of_the_case_is_the_last_resort(outcome_, remark):
    case = Case(name="x", grid=1, block=1, races=NONE, reason="Why.", scord_reason="it is mine")
    assert remark in remarks(case, outcome_)
