"""Timelines of races between threads: what orders others, what lacks, locks held, and names."""

import pytest

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.happens_before.race_context import RaceContexts
from racetrap.golden_model.trace.threads.events import (
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
    Variable,
)
from racetrap.verdict.threads.exact_check import check_exactly
from racetrap.verdict.threads.suppressions import Suppressions
from racetrap.verdict.threads.timelines import timeline_of
from racetrap.verdict.timeline import Sort
from tests.support.sigrace.programs import ThreadProgram

_K = ThreadEventKind
_DATA, _FLAG, _OTHER = 0x1000, 0x2000, 0x3000


def _timeline(program, **header):
    """Of the last of the pairs of instructions that race."""
    trace = program.trace(**header)
    found = check_exactly(trace, Suppressions())
    return timeline_of(found.races[-1].first, found.contexts[-1], trace)


def _shown(timeline):
    return [(moment.sides, moment.words) for moment in timeline.moments]


def _lacks(timeline):
    return [moment.lack for moment in timeline.moments]


def test_one_thread_has_the_lock_and_the_other_has_none():
    program = ThreadProgram(3)
    program.lock(2)
    program.load(2, _DATA)
    program.store(1, _OTHER)
    program.store(1, _DATA)
    program.unlock(2)
    header = {
        "variables": {_DATA: Variable(4, "data"), 0x9000: Variable(40, "guard")},
        "locations": {0x105 + number: f"a.c:{number}" for number in range(5)},
    }
    timeline = _timeline(program, **header)
    assert timeline.actors == ("thread 2", "thread 1")
    assert _shown(timeline) == [((0,), "lock"), ((0,), "load"), ((1,), "store"), ((0,), "unlock")]
    assert _lacks(timeline) == ["", "", "no lock", ""]
    assert [moment.name for moment in timeline.moments] == ["guard", "data", "data", "guard"]
    assert [moment.place for moment in timeline.moments] == ["a.c:0", "a.c:1", "a.c:3", "a.c:4"]
    assert [moment.sort for moment in timeline.moments] == [
        Sort.ORDER, Sort.ACCESS, Sort.ACCESS, Sort.ORDER,
    ]  # fmt: skip
    assert [moment.is_access for moment in timeline.moments] == [False, True, True, False]
    assert timeline.bands == ((0, 0, 3, "lock held"),)
    assert (timeline.missing, timeline.messages) == ("not ordered", ())
    # The other store lies ahead of all that is shown of its thread, but not of the timeline.
    assert [moment.skipped for moment in timeline.moments] == [0, 0, 1, 0]


def test_an_access_behind_the_unlock_shows_which_lock_would_have_held_it():
    program = ThreadProgram(3)
    program.lock(1)
    program.unlock(1)
    program.store(1, _DATA)
    for _ in range(5):
        program.synchronise(2)
    program.lock(2)
    program.load(2, _DATA)
    program.unlock(2)
    timeline = _timeline(program)
    own = [moment.words for moment in timeline.moments if moment.sides == (0,)]
    assert own == ["lock", "unlock", "store"]
    assert timeline.moments[2].lack == "no lock"
    # The lock was handed over, but before the store.
    (message,) = timeline.messages
    assert [timeline.moments[number].words for number in message] == ["unlock", "lock"]


@pytest.mark.parametrize(
    ("locks", "lack"),
    [
        (((0x9000, SyncClass.MUTEX), (0x9100, SyncClass.MUTEX)), ["other lock"] * 2),
        (((0x9000, SyncClass.RWLOCK_READ),) * 2, ["only read lock"] * 2),
        (((0x9000, SyncClass.MUTEX), (0x9000, SyncClass.MUTEX)), None),
    ],
)
def test_locks_that_do_not_exclude_each_other(locks, lack):
    program = ThreadProgram(3)
    for thread, (address, kind) in enumerate(locks, start=1):
        program.add(_K.ACQUIRE, thread, address, value=kind)
        program.store(thread, _DATA)
        if lack is None:
            program.add(_K.RELEASE, thread, address, value=kind)
    if lack is None:
        assert check_exactly(program.trace(), Suppressions()).races == []
        return
    timeline = _timeline(program)
    assert [moment.lack for moment in timeline.moments if moment.is_access] == lack
    # They are not released.
    assert [band[2:] for band in timeline.bands] == [(None, "lock held")] * 2


def test_atomics_that_hand_over_without_an_order():
    def program(release, acquire):
        written = ThreadProgram(3)
        written.store(1, _DATA)
        written.add(_K.ATOMIC_STORE, 1, _FLAG, 4, release)
        written.add(_K.ATOMIC_LOAD, 2, _FLAG, 4, acquire)
        written.load(2, _DATA)
        return written

    relaxed, released, acquired = MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.ACQUIRE
    for release, acquire, lacks in (
        (relaxed, acquired, ["", "no release", "", ""]),
        (released, relaxed, ["", "", "no acquire", ""]),
        (relaxed, relaxed, ["", "no release", "no acquire", ""]),
    ):
        timeline = _timeline(program(release, acquire))
        assert _shown(timeline) == [
            ((0,), "store"), ((0,), f"{release.name.lower()} atomic store"),
            ((1,), f"{acquire.name.lower()} atomic load"), ((1,), "load"),
        ]  # fmt: skip
        assert _lacks(timeline) == lacks
        assert timeline.messages == ((1, 2),)
        assert timeline.moments[1].sort is Sort.ATOMIC
    assert check_exactly(program(released, acquired).trace(), Suppressions()).races == []


def test_threads_that_begin_and_end_are_shown_if_the_other_creates_or_joins_them():
    """And no others: they order nothing between these two."""
    program = ThreadProgram(3)
    program.store(1, _DATA)
    program.add(_K.END, 2)
    program.add(_K.JOIN, 0, value=2)
    program.load(0, _DATA)
    program.add(_K.END, 1)
    program.add(_K.JOIN, 0, value=1)
    timeline = _timeline(program)
    assert timeline.actors == ("thread 1", "thread 0")
    assert _shown(timeline) == [
        ((1,), "create thread 1"), ((0,), "thread begins"), ((0,), "store"),
        ((1,), "join thread 2"), ((1,), "load"), ((0,), "thread ends"), ((1,), "join thread 1"),
    ]  # fmt: skip
    # The end of thread 1 is handed to the join, too late.
    assert timeline.messages == ((5, 6),)

    siblings = ThreadProgram(3)
    siblings.store(1, _DATA)
    siblings.load(2, _DATA)
    assert _shown(_timeline(siblings)) == [((0,), "store"), ((1,), "load")]


def test_objects_of_every_class_are_named_and_joined():
    program = ThreadProgram(3)
    for kind in (SyncClass.SEMAPHORE, SyncClass.CONDITION, SyncClass.FLAG):
        program.add(_K.RELEASE, 1, 0x4000 + kind, value=kind)
    program.store(1, _DATA)
    for kind in (SyncClass.SEMAPHORE, SyncClass.CONDITION, SyncClass.FLAG):
        program.add(_K.ACQUIRE, 2, 0x4000 + kind, value=kind)
    program.load(2, _DATA)
    timeline = _timeline(program)
    assert _shown(timeline) == [
        ((0,), "signal"), ((0,), "set flag"), ((0,), "store"), ((1,), "semaphore wait"),
        ((1,), "condition wait"), ((1,), "wait for flag"), ((1,), "load"),
    ]  # fmt: skip
    assert [moment.name for moment in timeline.moments[:2]] == ["0x4003", "0x4005"]
    assert timeline.messages == ((0, 4), (1, 5))


def test_arrivals_at_a_barrier_reach_those_who_leave_it():
    program = ThreadProgram(3)
    for thread in (1, 2):
        program.add(_K.BARRIER_ARRIVE, thread, _FLAG, value=2)
    for thread in (1, 2):
        program.add(_K.BARRIER_LEAVE, thread, _FLAG, value=2)
    program.store(1, _DATA)
    program.store(2, _DATA)
    timeline = _timeline(program, variables={_FLAG - 8: Variable(32, "rows")})
    assert timeline.messages == ((0, 3),)
    assert [timeline.moments[number].words for number in (0, 3)] == [
        "arrive at barrier", "leave barrier",
    ]  # fmt: skip
    assert timeline.moments[0].name == "rows, byte 8"


def test_allocations_and_regions_order_nothing():
    program = ThreadProgram(3)
    program.add(_K.ALLOCATE, 1, _OTHER, value=64)
    program.store(1, _OTHER)
    program.add(_K.COLLECT_OFF, 1)
    program.add(_K.COLLECT_ON, 1)
    program.add(_K.ALLOCATE, 1, _OTHER + 64, value=64)
    program.load(2, _OTHER)
    timeline = _timeline(program)
    assert _shown(timeline) == [((0,), "store"), ((1,), "load")]
    assert timeline.moments[0].name == hex(_OTHER)


def test_a_race_whose_accesses_are_not_in_the_trace_has_none():
    trace = ThreadProgram(3).trace()
    race = ThreadRace.of(_DATA, RaceParty(1, 0, 1, True), RaceParty(2, 0, 2, False))
    assert timeline_of(race, RaceContexts(trace).of(race), trace) is None
