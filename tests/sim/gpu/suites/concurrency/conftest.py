"""Outcomes of the suite's cases, each run once however many tests look at it."""

from functools import cache

import pytest

from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import run_schedules


@cache
def _outcome(name):
    return run_schedules(CASES[name])


@pytest.fixture(scope="session")
def outcome():
    """Function from a case's name to its outcome over all schedules."""
    return _outcome
