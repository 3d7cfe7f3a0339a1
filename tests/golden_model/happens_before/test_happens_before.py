"""The oracle against reachability in the event graph, and by hand for each object."""

from __future__ import annotations

import pytest

from racetrap.golden_model.happens_before import pairs
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import (
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
)
from racetrap.sim.cpu.random_run import random_run, trace_of
from tests.support.threads.brute_force import brute_force_races
from tests.support.threads.random_traces import random_thread_trace

K = ThreadEventKind
X, LOCK = 0x1000, 0x50


def load(thread: int, address: int = X, size: int = 4, pc: int = 1) -> ThreadEvent:
    return ThreadEvent(K.LOAD, thread, address=address, size=size, pc=pc)


def store(thread: int, address: int = X, size: int = 4, pc: int = 2) -> ThreadEvent:
    return ThreadEvent(K.STORE, thread, address=address, size=size, pc=pc)


def acquire(thread: int, sync_class: int, address: int = LOCK) -> ThreadEvent:
    return ThreadEvent(K.ACQUIRE, thread, address=address, value=sync_class)


def release(thread: int, sync_class: int, address: int = LOCK) -> ThreadEvent:
    return ThreadEvent(K.RELEASE, thread, address=address, value=sync_class)


def atomic(kind: int, thread: int, order: int, address: int = X) -> ThreadEvent:
    return ThreadEvent(kind, thread, address=address, size=4, value=order, pc=9)


def barrier(kind: int, thread: int, width: int) -> ThreadEvent:
    return ThreadEvent(kind, thread, address=LOCK, value=width)


def count(threads: int, *events: ThreadEvent) -> int:
    return len(HappensBefore().run(trace_of(threads, *events)).races)


@pytest.mark.parametrize("seed", range(60))
def test_random_runs_against_brute_force(seed: int) -> None:
    if seed % 4:
        trace = random_run(seed, threads=1 + seed % 6, events=300, sync=(0.1, 0.3, 0.6)[seed % 3])
    else:
        trace = random_thread_trace(seed, threads=5, addresses=64, objects=2)
    expected = brute_force_races(trace)
    result = HappensBefore().run(trace)
    assert result.races == sorted(expected)
    assert result.dynamic == len(expected)
    assert result.is_complete
    assert result.static == {race.static_key for race in expected}
    assert result.false_sharing == {race for race, (shared, _) in expected.items() if not shared}
    assert result.involves_atomic == {race for race, (_, plain) in expected.items() if not plain}


@pytest.mark.parametrize("seed", range(12))
def test_small_chunks_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = random_run(seed, threads=5)
    whole = HappensBefore().run(trace)
    monkeypatch.setattr(pairs, "_CHUNK_ROWS", 1 + seed % 7)
    assert HappensBefore().run(trace) == whole


@pytest.mark.parametrize("seed", range(12))
def test_limit_of_the_list(seed: int) -> None:
    trace = random_run(seed, threads=5, sync=0.1)
    whole, short = HappensBefore().run(trace), HappensBefore(limit=10).run(trace)
    assert len(whole.races) > 10
    assert len(short.races) <= 10
    assert set(short.races) < set(whole.races)
    assert not short.is_complete
    assert short.static == whole.static
    assert short.dynamic >= whole.dynamic


def test_limit_must_not_be_negative() -> None:
    with pytest.raises(ValueError, match="must be at least 0, not -1"):
        HappensBefore(limit=-1)


def test_a_race_has_its_epochs_and_instructions() -> None:
    trace = trace_of(2, acquire(1, 0), store(1, X, 8, pc=7), release(1, 0), load(0, X + 6, 1, pc=8))
    result = HappensBefore().run(trace)
    first, second = RaceParty(0, 1, 8, False), RaceParty(1, 2, 7, True)
    assert result.races == [ThreadRace(X + 4, first, second)]
    assert result.static == {(7, 8)}
    assert not result.false_sharing
    assert not result.involves_atomic


def test_no_events() -> None:
    assert HappensBefore().run(trace_of(1)).races == []


def test_more_races_than_anyone_can_list() -> None:
    """Two threads, each with its own lock: all of one's epochs race with all of the other's."""
    events = []
    for step in range(4000):
        thread = step % 2
        lock = LOCK + 4 * thread
        events += [acquire(thread, 0, lock), store(thread), release(thread, 0, lock)]
    result = HappensBefore(limit=100).run(trace_of(2, *events))
    assert result.dynamic == 2000 * 2000
    assert len(result.races) == 100


@pytest.mark.parametrize("order", ["ordered", "forgotten release", "forgotten acquire"])
@pytest.mark.parametrize(
    "sync_class",
    [SyncClass.MUTEX, SyncClass.RWLOCK_WRITE, SyncClass.CONDITION, SyncClass.SEMAPHORE,
     SyncClass.FLAG],
)  # fmt: skip
def test_objects(sync_class: int, order: str) -> None:
    events = [store(0)]
    if order != "forgotten release":
        if sync_class <= SyncClass.RWLOCK_WRITE:
            events.insert(0, acquire(0, sync_class))
        events.append(release(0, sync_class))
    if order != "forgotten acquire":
        events.append(acquire(1, sync_class))
    assert count(2, *events, store(1)) == (order != "ordered")


def test_readers_do_not_order_each_other_but_a_writer() -> None:
    read, write = SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE
    readers = [acquire(0, read), store(0), release(0, read), acquire(1, read)]
    assert count(2, *readers, load(1)) == 1
    assert count(3, *readers, release(1, read), acquire(2, write), load(2)) == 0
    assert count(2, acquire(0, write), store(0), release(0, write), acquire(1, read), load(1)) == 0


def test_a_mutex_knows_what_its_last_holder_knew() -> None:
    sections = [acquire(0, 0), store(0), release(0, 0), acquire(1, 0), release(1, 0)]
    assert count(3, *sections, acquire(2, 0), store(2)) == 0


def test_a_semaphore_knows_all_posts() -> None:
    posts = [store(0), release(0, SyncClass.SEMAPHORE), release(1, SyncClass.SEMAPHORE)]
    assert count(3, *posts, acquire(2, SyncClass.SEMAPHORE), store(2)) == 0


def test_barrier_and_the_next_crossing() -> None:
    arrivals = [barrier(K.BARRIER_ARRIVE, thread, 2) for thread in (0, 1)]
    leaves = [barrier(K.BARRIER_LEAVE, thread, 2) for thread in (0, 1)]
    assert count(2, store(0), *arrivals, *leaves, load(1)) == 0
    assert count(2, *arrivals, *leaves, store(0), load(1)) == 1
    # Thread 0 arrives again before thread 1 has left: what it did in between is not ordered.
    late = [*arrivals, leaves[0], store(0), arrivals[0], leaves[1], load(1)]
    assert count(2, *late) == 1
    assert count(2, *late[:-1], arrivals[1], leaves[0], leaves[1], load(1)) == 0


def test_a_barrier_that_threads_cross_in_pairs() -> None:
    pairs_ = [[barrier(kind, thread, 2) for kind in (K.BARRIER_ARRIVE, K.BARRIER_LEAVE)
               for thread in pair] for pair in ((0, 1), (2, 3))]  # fmt: skip
    assert count(4, *pairs_[0], store(0), *pairs_[1], store(2)) == 1
    again = [barrier(kind, thread, 2) for kind in (K.BARRIER_ARRIVE, K.BARRIER_LEAVE)
             for thread in (0, 2)]  # fmt: skip
    assert count(4, *pairs_[0], store(0), *again, store(2)) == 0


def test_create_and_join() -> None:
    create, begin = ThreadEvent(K.CREATE, 0, value=1), ThreadEvent(K.BEGIN, 1)
    end, join = ThreadEvent(K.END, 1), ThreadEvent(K.JOIN, 0, value=1)
    start = trace_of(2)
    parent, child = store(0), store(1)

    def races(*events: ThreadEvent) -> int:
        events = (ThreadEvent(K.BEGIN, 0), *events)
        trace = type(start).from_events(start.header, events)
        return len(HappensBefore().run(trace).races)

    assert races(parent, create, begin, child, end, join, parent) == 0
    assert races(create, parent, begin, child, end, join) == 1
    assert races(create, begin, child, end, parent) == 1


@pytest.mark.parametrize("order", list(MemoryOrder))
def test_atomics_order_as_their_memory_order_says(order: int) -> None:
    flag = X + 0x100
    publish = [store(0), atomic(K.ATOMIC_STORE, 0, order, flag)]
    ready = [atomic(K.ATOMIC_LOAD, 1, MemoryOrder.ACQUIRE, flag), store(1)]
    assert count(2, *publish, *ready) == (not order & MemoryOrder.RELEASE)
    publish = [store(0), atomic(K.ATOMIC_UPDATE, 0, MemoryOrder.RELEASE, flag)]
    ready = [atomic(K.ATOMIC_UPDATE, 1, order, flag), store(1)]
    assert count(2, *publish, *ready) == (not order & MemoryOrder.ACQUIRE)


def test_atomic_against_plain_is_a_race_and_marked() -> None:
    result = HappensBefore().run(
        trace_of(2, store(0), atomic(K.ATOMIC_UPDATE, 1, 0), atomic(K.ATOMIC_STORE, 0, 0))
    )
    assert len(result.races) == 1
    assert result.involves_atomic == set(result.races)


def test_an_acquiring_load_follows_what_it_has_read() -> None:
    publish = [store(0), atomic(K.ATOMIC_STORE, 0, MemoryOrder.RELEASE)]
    assert count(2, *publish, atomic(K.ATOMIC_LOAD, 1, MemoryOrder.ACQUIRE)) == 0
    assert count(2, *publish, atomic(K.ATOMIC_UPDATE, 1, MemoryOrder.ACQ_REL)) == 0
    assert count(2, *publish, atomic(K.ATOMIC_LOAD, 1, MemoryOrder.RELAXED)) == 1


def test_false_sharing_is_marked() -> None:
    result = HappensBefore().run(trace_of(2, store(0, X, 2), store(1, X + 2, 2)))
    assert result.false_sharing == set(result.races)
    assert len(result.races) == 1


def test_what_is_not_collected_is_not_checked() -> None:
    off, on = ThreadEvent(K.COLLECT_OFF, 0), ThreadEvent(K.COLLECT_ON, 0)
    assert count(2, off, store(0), on, store(1)) == 0
    assert count(2, off, on, store(0), store(1)) == 1


def test_memory_allocated_anew_is_new() -> None:
    again = [
        ThreadEvent(K.FREE, 0, address=X),
        ThreadEvent(K.ALLOCATE, 1, address=X, value=5),
    ]
    assert count(2, store(0, X + 4), *again, store(1, X + 4)) == 0
    assert count(2, store(0, X + 8), *again, store(1, X + 8)) == 1
    assert count(2, *again, store(0, X + 4), store(1, X + 4)) == 1


def test_addresses_have_all_their_bits() -> None:
    assert count(2, store(0, X), store(1, X + (1 << 32))) == 0
    high = (1 << 47) - 8
    trace = trace_of(2, store(0, high, 8), store(1, high + 4))
    assert [race.address for race in HappensBefore().run(trace).races] == [high + 4]
