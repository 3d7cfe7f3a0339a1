"""Table 7's counts of small programs whose races are known."""

from __future__ import annotations

import pytest

from racetrap.evaluation.sigrace import races
from racetrap.evaluation.sigrace.races import RaceCount, existing_races, injected_races
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.missed import RaceOutcome
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.events import MemoryOrder, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.verdict.threads.oracle import unconfirmed
from tests.support.sigrace.programs import ThreadProgram

PARAMS = SigraceParams()
SHALLOW = SigraceParams(history_depth=1)


def locked(known: bool = True) -> ThreadTrace:
    """Both threads write under a lock; beside it, if wanted, a race that is known."""
    program = ThreadProgram(2)
    if known:
        program.store(0, 0x4000, pc=0x10)
        program.load(1, 0x4000, pc=0x14)
    for thread in range(2):
        program.lock(thread)
        program.store(thread, 0x2000, pc=0x20)
        program.load(thread, 0x2000, pc=0x24)
        program.unlock(thread)
    return program.trace()


def test_existing_races_by_all_detectors() -> None:
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.store(0, 0x1004, size=1, pc=0x44)
    program.synchronise(0)
    program.store(0, 0x2000, pc=0x48)
    program.synchronise(0)
    program.load(1, 0x1000, pc=0x50)
    program.load(1, 0x1006, size=1, pc=0x54)
    program.add(ThreadEventKind.ATOMIC_LOAD, 1, 0x2000, 4, MemoryOrder.RELAXED, pc=0x58)
    found = existing_races(program.trace(), SHALLOW)
    assert found.exact == RaceCount(2, 2)
    assert found.ideal == RaceCount(1, 1)
    assert found.sigrace == RaceCount(0, 0)
    assert found.reenact == RaceCount(1, 1)  # the second load hits
    assert (found.false_sharing, found.unreal) == (1, 0)
    assert found.outcomes == {str(RaceOutcome.OVERFLOW): 1, str(RaceOutcome.ATOMIC): 1}
    deep = existing_races(program.trace(), PARAMS)
    assert deep.sigrace == deep.ideal
    assert deep.statistics.first_race is not None


def injected(trace: ThreadTrace, seed: int = 1) -> races.Injected:
    known = HappensBefore().run(trace).static
    found = injected_races(trace, known, PARAMS, seed)
    assert found is not None
    return found


@pytest.mark.parametrize("known", [False, True])
def test_injected_races_are_those_that_were_not_there(known: bool) -> None:
    found = injected(locked(known))
    # Both stores, and each thread's load with the other's store.
    assert found.exact == found.sigrace == found.reenact
    assert (found.exact.static, found.exact.dynamic) == (2, 3)
    assert found.outcomes == {str(RaceOutcome.REPORTED): 3}
    assert found.unreal == 0
    assert found.removed.startswith("lock 0x9000")
    assert found.first_race is not None


def test_a_run_without_a_new_race() -> None:
    program = ThreadProgram(2)
    program.synchronise(0)
    program.store(0, 0x4000)
    program.load(1, 0x4000)
    found = injected(program.trace())
    assert found.exact == found.sigrace == found.reenact == RaceCount(0, 0)
    assert not found.outcomes
    assert found.first_race is not None  # that of the race that was there before


def test_nothing_to_take_out() -> None:
    assert injected_races(ThreadProgram(2).trace(), frozenset(), PARAMS, 1) is None


def test_same_seed_same_run() -> None:
    assert injected(locked(), 5) == injected(locked(), 5)


@pytest.mark.parametrize("limit", [0, 1_000_000])
def test_reports_that_are_no_race_are_counted(limit: int) -> None:
    trace = locked()
    exact = HappensBefore(limit).run(trace)
    (real,) = HappensBefore().run(trace).races
    stray = real._replace(first=real.first._replace(pc=0x999))
    assert len(unconfirmed([real, stray], exact)) == 1
