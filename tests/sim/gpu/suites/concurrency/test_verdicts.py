"""Verdicts of both oracles on every case: its races in some schedule, no other race in any."""

import pytest

from racetrap.sim.gpu.suites.concurrency.cases import CASES
from tests.support.campaign import one_in

pytestmark = pytest.mark.xdist_group("concurrency")


@pytest.mark.parametrize("name", one_in(4, CASES))
def test_verdicts(name, outcome):
    found, case = outcome(name), CASES[name]
    assert found.races == case.races, "BARRACUDA's analysis"
    assert found.scoped == case.scoped_races, "scope-aware oracle"


def test_the_group_stays_together(request):
    """Else each process that runs some of these tests would run all cases again."""
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@concurrency")
