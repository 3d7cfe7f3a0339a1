"""Outcomes of the suite's cases."""

import pytest

from tests.support.gpu.concurrency import outcome_of


@pytest.fixture(scope="session")
def outcome():
    """Function from a case's name to its outcome over all schedules."""
    return outcome_of
