"""The synchronisation library: Table 2 by hand, and the order of timestamps by brute force."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sync_library import SyncLibrary
from racetrap.golden_model.trace.threads.events import (
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    epoch_steps,
)
from tests.support.threads.random_traces import random_thread_trace

_K = ThreadEventKind
_SYNC, _OFF, _ON = (
    CoreEvent(op) for op in (CoreOp.SYNC_REACHED, CoreOp.COLLECT_OFF, CoreOp.COLLECT_ON)
)


@pytest.fixture
def library():
    return SyncLibrary(SigraceParams(cores=4, threads=4, timestamp_bits=4, pc_bits=8))


def _write(index, value):
    return CoreEvent(CoreOp.TS_WRITE, value, index=index)


def _acquire(thread, item=SyncClass.MUTEX):
    return ThreadEvent(_K.ACQUIRE, thread, 0x50, value=item)


def _release(thread, item=SyncClass.MUTEX):
    return ThreadEvent(_K.RELEASE, thread, 0x50, value=item)


def _barrier(kind, thread):
    return ThreadEvent(kind, thread, 0x60, value=2)


def test_unlock_and_lock_as_in_table_2(library):
    assert library.events(_acquire(0)) == [_OFF, _SYNC, _ON]
    assert library.events(_release(0)) == [_OFF, _SYNC, _ON]
    # The timestamp stored is the one after sync_reached.
    assert library.events(_acquire(1)) == [_OFF, _SYNC, _write(0, 2), _ON]
    assert library.timestamps[:2] == [[2, 0, 0, 0], [2, 1, 0, 0]]
    assert library.log[:2] == [[(1, 0, 0, 0), (2, 0, 0, 0)], [(2, 1, 0, 0)]]
    library.clear()
    assert library.timestamps == [[0] * 4] * 4
    assert library.events(_acquire(2)) == [_OFF, _SYNC, _ON]


def test_a_mutex_is_overwritten_and_a_semaphore_is_not(library):
    for item, known in ((SyncClass.MUTEX, [0, 1, 1, 0]), (SyncClass.SEMAPHORE, [1, 1, 1, 0])):
        library.clear()
        library.events(_release(0, item))
        library.events(_release(1, item))
        library.events(_acquire(2, item))
        assert library.timestamps[2] == known


def test_readers_do_not_wait_for_readers(library):
    read, write = SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE
    library.events(_release(0, write))
    library.events(_release(1, read))
    library.events(_acquire(2, read))
    assert library.timestamps[2] == [1, 0, 1, 0]
    library.events(_acquire(3, write))
    assert library.timestamps[3] == [1, 1, 0, 1]


def test_a_fast_thread_at_the_next_crossing_of_a_barrier(library):
    for thread in (0, 1):
        library.events(_barrier(_K.BARRIER_ARRIVE, thread))
    library.events(_barrier(_K.BARRIER_LEAVE, 0))
    library.events(_barrier(_K.BARRIER_ARRIVE, 0))
    library.events(_barrier(_K.BARRIER_LEAVE, 1))
    assert library.timestamps[1] == [1, 2, 0, 0]
    library.events(_barrier(_K.BARRIER_ARRIVE, 2))  # another thread may be the second one
    library.events(_barrier(_K.BARRIER_LEAVE, 2))
    assert library.timestamps[2] == [3, 1, 2, 0]


def test_an_update_with_both_orders_steps_twice(library):
    update = ThreadEvent(_K.ATOMIC_UPDATE, 0, 0x70, 4, MemoryOrder.ACQ_REL)
    assert library.events(update) == [_OFF, _SYNC, _SYNC, _ON]
    assert library.events(update._replace(thread=1)) == [_OFF, _SYNC, _SYNC, _write(0, 1), _ON]
    assert library.log[1] == [(0, 1, 0, 0), (1, 2, 0, 0)]


@pytest.mark.parametrize(
    "event",
    [
        ThreadEvent(_K.BEGIN, 0),
        ThreadEvent(_K.ALLOCATE, 0, 0x100, value=8),
        ThreadEvent(_K.FREE, 0, 0x100),
        ThreadEvent(_K.ATOMIC_LOAD, 0, 0x100, 4, MemoryOrder.RELEASE),
        ThreadEvent(_K.ATOMIC_UPDATE, 0, 0x100, 4, MemoryOrder.RELAXED),
    ],
)
def test_nothing_but_instructions(library, event):
    assert library.events(event) == []
    assert library.events(event._replace(instructions=5000)) == [
        CoreEvent(CoreOp.INSTRUCTIONS, instructions=4095),
        CoreEvent(CoreOp.INSTRUCTIONS, instructions=905),
    ]
    assert library.log[0] == []


def test_accesses_and_their_instructions(library):
    event = ThreadEvent(_K.STORE, 3, 0x1_0000_0004, 8, pc=0x123, instructions=4095)
    store = CoreEvent(CoreOp.STORE, 4, 8, instructions=4095, pc=0x23)
    assert library.events(event) == [store]
    assert library.events(event._replace(instructions=4096)) == [
        CoreEvent(CoreOp.INSTRUCTIONS, instructions=4095), store._replace(instructions=1),
    ]  # fmt: skip
    assert library.events(_acquire(0)._replace(instructions=7))[0] == _OFF._replace(instructions=7)


def test_the_program_keeps_collection_off(library):
    assert library.events(ThreadEvent(_K.COLLECT_OFF, 0)) == [_OFF]
    assert library.events(_release(0)) == [_SYNC]
    assert library.events(_release(1)) == [_OFF, _SYNC, _ON]
    assert library.events(ThreadEvent(_K.COLLECT_ON, 0)) == [_ON]
    assert library.events(_release(0)) == [_OFF, _SYNC, _ON]


def test_counters_saturate(library):
    for _ in range(20):
        library.events(_release(0))
    assert library.timestamps[0] == [15, 0, 0, 0]


# Order of timestamps ------------------------------------------------------------------------

_WRITE, _READ = SyncClass.RWLOCK_WRITE, SyncClass.RWLOCK_READ


def _ends(event, crossing):
    """What an event releases and what it acquires."""
    kind, thread, address, _, value, *_ = event
    atomic = ("atomic", address)
    if kind in (_K.RELEASE, _K.ACQUIRE):
        seen = {_READ: [_WRITE], _WRITE: [_READ, _WRITE]}.get(value, [value])
        released = [(address, value)] if kind == _K.RELEASE else []
        return released, [(address, item) for item in seen] if kind == _K.ACQUIRE else []
    return {
        _K.BARRIER_ARRIVE: lambda: ([crossing], []),
        _K.BARRIER_LEAVE: lambda: ([], [crossing]),
        _K.CREATE: lambda: ([("created", value)], []),
        _K.BEGIN: lambda: ([], [("created", thread)]),
        _K.END: lambda: ([("ended", thread)], []),
        _K.JOIN: lambda: ([], [("ended", value)]),
        _K.ATOMIC_LOAD: lambda: ([], [atomic] * (value & 1)),
        _K.ATOMIC_STORE: lambda: ([atomic] * (value >> 1 & 1), []),
        _K.ATOMIC_UPDATE: lambda: ([atomic] * (value >> 1 & 1), [atomic] * (value & 1)),
    }.get(kind, lambda: ([], []))()


def _reachable(events):
    """For each event the set of events that happened before it, along the edges of the graph."""
    before, last = [], {}
    releases, arrivals, crossings = defaultdict(set), Counter(), {}
    for number, event in enumerate(events):
        if event.kind == _K.BARRIER_ARRIVE:
            crossing = arrivals[event.address] // event.value
            crossings[event.thread, event.address] = event.address, "crossing", crossing
            arrivals[event.address] += 1
        released, acquired = _ends(event, crossings.get((event.thread, event.address)))
        edges = [last[event.thread]] if event.thread in last else []
        edges += [source for name in acquired for source in releases[name]]
        before.append(set(edges).union(*(before[source] for source in edges)))
        last[event.thread] = number
        for name in released:
            releases[name].add(number)
    return before


@given(seed=st.integers(0, 100_000), threads=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_timestamps_order_accesses_as_happens_before_does(seed, threads):
    trace = random_thread_trace(seed, threads, events=120, objects=2)
    events, library = list(trace), SyncLibrary(SigraceParams())
    accesses, epochs = [], Counter()
    for number, event in enumerate(events):
        if event.kind <= _K.STORE:
            accesses.append((number, event.thread, tuple(library.timestamps[event.thread])))
        library.events(event)
        epochs[event.thread] += epoch_steps(event.kind, event.value, event.thread)
        assert library.timestamps[event.thread][event.thread] == epochs[event.thread]
    assert [len(log) for log in library.log] == [epochs[thread] for thread in range(8)]
    before = _reachable(events)
    for later, thread, stamp in accesses:
        for earlier, other, old in accesses:
            if other != thread:
                assert (old[other] < stamp[other]) == (earlier in before[later]), (earlier, later)
