"""Proof: reports that are written and dropped are all that were found, once none is held."""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.formal.prover import holds_always, is_violated
from tests.support.noncoherent.report_proof import ReportHarness

_PARAMS = NoncoherentParams(address_bits=16, tag_bits=4, report_fifo_depth=4)


@pytest.mark.campaign
def test_no_report_is_lost_uncounted():
    assert holds_always(ReportHarness(_PARAMS), depth=3)


@pytest.mark.campaign
def test_a_report_that_is_lost_uncounted_shows():
    assert is_violated(ReportHarness(_PARAMS, forgets=True), cycles=11)
