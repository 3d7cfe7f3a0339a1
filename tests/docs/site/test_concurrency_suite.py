"""Tables of the concurrency suite: verdicts, counts, and a reason for every difference."""

import pytest

from docs.site.concurrency_suite import remarks, suite_tables
from racetrap.golden_model.events import Space
from racetrap.sim.gpu.suites.concurrency.cases import CASES, INTER_BLOCK, NONE, Case
from tests.support.gpu.concurrency import CaseOutcome, outcome_of

pytestmark = pytest.mark.xdist_group("concurrency")

#: Outcomes as they must be, but for ScoRD, which reports nothing.
_RIGHT = {
    name: CaseOutcome(races=case.races, scoped=case.scoped_races) for name, case in CASES.items()
}


@pytest.mark.parametrize(
    "outcomes",
    [_RIGHT.__getitem__, pytest.param(outcome_of, marks=pytest.mark.campaign)],
    ids=["made", "run"],
)
def test_every_case_is_in_a_row_with_its_verdicts(outcomes):
    page = suite_tables({name: outcomes(name) for name in CASES})
    rows = {line.split(" | ")[0].strip("| `"): line for line in page.splitlines() if "| `" in line}
    assert list(rows) == list(CASES)
    assert " | 1, 32 | none | none | none | The lanes of one" in rows["warp_same_value_global"]
    assert f"\n| All | {len(CASES)} | {len(CASES)} of {len(CASES)} | " in page


def test_a_wrong_verdict_is_counted():
    wrong = _RIGHT | {next(iter(CASES)): CaseOutcome(races=INTER_BLOCK)}
    assert f"\n| All | {len(CASES)} | {len(CASES) - 1} of {len(CASES)} | " in suite_tables(wrong)


@pytest.mark.campaign
def test_every_difference_of_scord_has_a_reason():
    for name, case in CASES.items():
        found = outcome_of(name)
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
