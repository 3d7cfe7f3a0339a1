"""Context of a race: locks held at both accesses, and the block of the heap."""

import pytest

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race_context import (
    Allocation,
    HeldLock,
    RaceContexts,
)
from racetrap.golden_model.trace.threads.events import (
    ORDER_BITS,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
    epoch_steps,
)
from racetrap.sim.cpu.random_run import random_run
from tests.support.sigrace.programs import ThreadProgram

_KIND = ThreadEventKind


def _context(program):
    trace = program.trace()
    (race,) = HappensBefore().run(trace).races
    return race, RaceContexts(trace).of(race)


def test_locks_and_block():
    program = ThreadProgram(3)
    program.add(_KIND.ALLOCATE, 0, 0x1000, value=8, pc=0x10)
    program.add(_KIND.ALLOCATE, 0, 0x1008, value=8, pc=0x11)
    program.lock(1, 0x9000, pc=0x20)
    program.add(_KIND.ACQUIRE, 1, 0x9100, value=SyncClass.RWLOCK_READ, pc=0x21)
    program.lock(1, 0x9200, pc=0x22)
    program.unlock(1, 0x9200)
    program.store(1, 0x100C, pc=0x23)
    program.unlock(1, 0x9000)
    program.lock(2, 0x9200, pc=0x30)
    program.unlock(2, 0x9200)
    program.store(2, 0x100C, pc=0x31)
    program.lock(2, 0x9300, pc=0x32)
    # Once more, after the race.
    program.add(_KIND.ALLOCATE, 0, 0x1008, value=8, pc=0x12)
    race, context = _context(program)
    assert (race.first.pc, race.second.pc) == (0x23, 0x31)
    assert context.first == (
        HeldLock(0x9000, SyncClass.MUTEX, 0x20), HeldLock(0x9100, SyncClass.RWLOCK_READ, 0x21),
    )  # fmt: skip
    assert context.second == ()
    assert context.allocation == Allocation(0x1008, 8, 0, 0x11)


def test_no_block():
    program = ThreadProgram(2)
    program.add(_KIND.ALLOCATE, 0, 0x1000, value=8, pc=0x10)
    program.store(0, 0x1008, pc=0x23)
    program.store(1, 0x1008, pc=0x31)
    assert _context(program)[1].allocation is None


def test_frames_of_the_accesses():
    program = ThreadProgram(2)
    program.lock(0, 0x9000)
    program.add(_KIND.STORE, 0, 0x2000, size=4, value=1, pc=0x23)
    program.add(_KIND.STORE, 0, 0x1000, size=4, value=2, pc=0x23)
    program.add(_KIND.STORE, 0, 0x1000, size=4, value=3, pc=0x23)
    program.unlock(0, 0x9000)
    program.add(_KIND.STORE, 1, 0x1000, size=4, value=4, pc=0x31)
    race, context = _context(program)
    assert (race.first.pc, context.first_frame) == (0x23, 2)
    assert (race.second.pc, context.second_frame) == (0x31, 4)


@pytest.mark.parametrize("order", MemoryOrder)
def test_frames_of_an_atomic_access(order):
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x23)
    for frame, kind in ((5, _KIND.ATOMIC_LOAD), (6, _KIND.ATOMIC_UPDATE)):
        program.add(_KIND.ALLOCATE, 1, 0x3000, value=8)  # no access, and no end of an epoch
        program.add(_KIND.ATOMIC_UPDATE, 1, 0x2000, 4, order | 7 << ORDER_BITS, pc=0x31)
        program.add(kind, 1, 0x1000, 4, order | frame << ORDER_BITS, pc=0x31)
    trace = program.trace()
    contexts = RaceContexts(trace)
    races = HappensBefore().run(trace).races
    frames = {race.second.is_write: contexts.of(race).second_frame for race in races}
    assert frames == {False: 5, True: 6}


def test_what_does_not_end_an_epoch_lies_within_it():
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x23)
    program.add(_KIND.STORE, 1, 0x1000, 4, value=3, pc=0x31)
    program.add(_KIND.ATOMIC_LOAD, 1, 0x2000, 4, MemoryOrder.RELAXED)
    program.add(_KIND.FREE, 1, 0x3000)
    _, context = _context(program)
    assert context.second_frame == 3


def test_the_epoch_of_an_access_says_which_of_its_instructions_frames_it_is():
    program = ThreadProgram(2)
    for frame, address in ((4, 0x2000), (5, 0x1000), (6, 0x2000)):
        program.lock(0, 0x9000)
        program.add(_KIND.LOAD, 0, address, size=4, value=frame, pc=0x23)
        program.unlock(0, 0x9000)
    program.add(_KIND.STORE, 1, 0x1000, size=4, value=7, pc=0x31)
    _, context = _context(program)
    assert (context.first_frame, context.second_frame) == (5, 7)


def test_as_a_run_through_all_events():
    """On random runs the locks are those of a plain run through all events."""
    compared = held_any = 0
    for seed in range(12):
        trace = random_run(seed, threads=4, events=400, sync=0.4)
        contexts, held, epochs, at = RaceContexts(trace), {}, {}, {}
        found = HappensBefore().run(trace)
        for event in trace:
            own = held.setdefault(event.thread, {})
            if event.kind == _KIND.ACQUIRE and event.value <= SyncClass.RWLOCK_WRITE:
                own[event.address, event.value] = event.pc
            if event.kind == _KIND.RELEASE and event.value <= SyncClass.RWLOCK_WRITE:
                own.pop((event.address, event.value))
            if event.kind <= _KIND.ATOMIC_UPDATE:
                at[event.thread, event.pc, epochs.get(event.thread, 0)] = sorted(own.items())
            step = epoch_steps(event.kind, event.value, event.thread)
            epochs[event.thread] = epochs.get(event.thread, 0) + step
        for race in found.races[:50]:
            context = contexts.of(race)
            for party, locks in ((race.first, context.first), (race.second, context.second)):
                expected = at[party.thread, party.pc, party.epoch]
                assert [((lock.address, lock.sync_class), lock.pc) for lock in locks] == expected
                compared += 1
                held_any += bool(locks)
    assert compared > 100
    assert held_any > 20
