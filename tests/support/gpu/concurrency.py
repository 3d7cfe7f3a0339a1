"""Outcomes of the concurrency suite's cases, each run once however many tests look at it."""

from functools import cache

from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import CaseOutcome, run_schedules


@cache
def outcome_of(name: str) -> CaseOutcome:
    """Outcome of a case over all schedules."""
    return run_schedules(CASES[name])
