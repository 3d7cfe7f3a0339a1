"""Every rule of a thread's trace broken once, in memory; and what is just legal."""

import pytest

from racetrap.golden_model.trace import Rule, TraceError
from racetrap.golden_model.trace.threads.events import (
    BOUNDED,
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_K = ThreadEventKind
_MUTEX, _READ, _WRITE = SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE
_START = (
    ThreadEvent(_K.BEGIN, 0),
    ThreadEvent(_K.CREATE, 0, value=1),
    ThreadEvent(_K.BEGIN, 1),
    ThreadEvent(_K.CREATE, 0, value=2),
    ThreadEvent(_K.BEGIN, 2),
)


def _acquire(thread, item=_MUTEX, address=0x50):
    return ThreadEvent(_K.ACQUIRE, thread, address, value=item)


def _release(thread, item=_MUTEX, address=0x50):
    return ThreadEvent(_K.RELEASE, thread, address, value=item)


def _arrive(thread, width=2, address=0x60):
    return ThreadEvent(_K.BARRIER_ARRIVE, thread, address, value=width)


def _leave(thread, width=2, address=0x60):
    return ThreadEvent(_K.BARRIER_LEAVE, thread, address, value=width)


def _of(kind, thread, **fields):
    return ThreadEvent(kind, thread, **fields)


def _trace(events, threads=4):
    return ThreadTrace.from_events(ThreadTraceHeader(threads=threads), events)


_BREACHES = {
    "kind": (Rule.KIND, "Field kind must be below 17, not 17", [_of(17, 0)]),
    "class": (Rule.CODE, "Field value must be below 6, not 6", [_acquire(0, 6)]),
    "address": (Rule.UNUSED_FIELD, "address must be 0 in end, not 1", [_of(_K.END, 1, address=1)]),
    "wait": (Rule.CODE, "Field size must be below 2, not 2", [_acquire(0)._replace(size=2)]),
    "size": (Rule.UNUSED_FIELD, "Field size must be 0 in release", [_release(0)._replace(size=1)]),
    "value": (Rule.UNUSED_FIELD, "Field value must be 0 in free", [_of(_K.FREE, 0, value=4)]),
    "no-size": (Rule.SIZE, "from 1 to 16, not 0", [_of(_K.LOAD, 0)]),
    "long": (Rule.SIZE, "from 1 to 16, not 17", [_of(_K.ATOMIC_STORE, 0, size=17)]),
    "wraps": (
        Rule.SIZE, "4 bytes from 0xfffffffffffffffd on ends behind 0xffffffffffffffff",
        [_of(_K.STORE, 0, address=(1 << 64) - 3, size=4)],
    ),
    "thread": (Rule.THREAD, "Field thread must be below 4, not 4", [_of(_K.LOAD, 4, size=1)]),
    "child": (Rule.THREAD, "Field value must be below 4", [_of(_K.CREATE, 0, value=4)]),
    "join-unknown": (Rule.THREAD, "Field value must be below 4", [_of(_K.JOIN, 0, value=9)]),
    "create-0": (Rule.BEGIN, "Thread 0 is created", [_of(_K.CREATE, 1, value=0)]),
    "create-twice": (Rule.BEGIN, "Thread 2 is created twice", [_of(_K.CREATE, 1, value=2)]),
    "not-created": (Rule.BEGIN, "Thread 3 begins before it is created", [_of(_K.BEGIN, 3)]),
    "begin-twice": (Rule.BEGIN, "Thread 1 begins twice", [_of(_K.BEGIN, 1)]),
    "begin-0-twice": (Rule.BEGIN, "Thread 0 begins twice", [_of(_K.BEGIN, 0)]),
    "not-begun": (
        Rule.ALIVE, "Thread 3 acts before it begins", [_of(_K.CREATE, 0, value=3),
        _of(_K.LOAD, 3, size=1)],
    ),
    "after-end": (
        Rule.ALIVE, "Thread 1 acts after its end", [_of(_K.END, 1), _of(_K.FREE, 1)],
    ),
    "end-twice": (Rule.ALIVE, "acts after its end", [_of(_K.END, 1), _of(_K.END, 1)]),
    "join-running": (
        Rule.JOIN, "Thread 1 is joined before its end", [_of(_K.JOIN, 0, value=1)],
    ),
    "join-never-begun": (Rule.JOIN, "Thread 3 is joined", [_of(_K.JOIN, 0, value=3)]),
    "join-self": (Rule.JOIN, "Thread 1 is joined before its end", [_of(_K.JOIN, 1, value=1)]),
    "join-twice": (
        Rule.JOIN, "Thread 1 is joined twice",
        [_of(_K.END, 1), _of(_K.JOIN, 0, value=1), _of(_K.JOIN, 2, value=1)],
    ),
    "release-nothing": (
        Rule.HELD, "Thread 0 releases mutex 0x50, which it does not hold",
        [_release(0)],
    ),
    "release-of-other": (Rule.HELD, "Thread 1 releases", [_acquire(0), _release(1)]),
    "release-twice": (Rule.HELD, "Thread 0", [_acquire(0), _release(0), _release(0)]),
    "release-as-writer": (Rule.HELD, "rwlock_write", [_acquire(0, _READ), _release(0, _WRITE)]),
    "release-as-reader": (Rule.HELD, "rwlock_read", [_acquire(0, _WRITE), _release(0, _READ)]),
    "taken": (Rule.FREE, "mutex 0x50 that another thread", [_acquire(0), _acquire(1)]),
    "recursive": (Rule.FREE, "mutex", [_acquire(0), _acquire(0)]),
    "two-writers": (Rule.FREE, "rwlock_write", [_acquire(0, _WRITE), _acquire(1, _WRITE)]),
    "write-while-read": (Rule.FREE, "rwlock_write", [_acquire(0, _READ), _acquire(1, _WRITE)]),
    "upgrade": (Rule.FREE, "rwlock_write", [_acquire(0, _READ), _acquire(0, _WRITE)]),
    "read-while-written": (Rule.FREE, "rwlock_read", [_acquire(0, _WRITE), _acquire(1, _READ)]),
    "no-width": (Rule.BARRIER_WIDTH, "is 0", [_arrive(0, 0)]),
    "other-width": (
        Rule.BARRIER_WIDTH, "is 3, but 2 at its other uses", [_arrive(0), _arrive(1, 3)],
    ),
    "leave-with-other-width": (
        Rule.BARRIER_WIDTH, "is 1, but 2 at its other uses", [_arrive(0), _leave(0, 1)],
    ),
    "leave-first": (Rule.BARRIER_CROSSING, "Thread 0 arrives at a barrier twice", [_leave(0)]),
    "arrive-twice": (Rule.BARRIER_CROSSING, "or leaves it twice", [_arrive(0), _arrive(0)]),
    "leave-twice": (
        Rule.BARRIER_CROSSING, "or leaves it twice", [_arrive(0), _arrive(1), _leave(0), _leave(0)],
    ),
    "leave-early": (
        Rule.BARRIER_CROSSING, "Thread 0 leaves a barrier before all 2", [_arrive(0), _leave(0)],
    ),
    "leave-second-crossing-early": (
        Rule.BARRIER_CROSSING, "Thread 0 leaves a barrier before all 2",
        [_arrive(0), _arrive(1), _leave(0), _arrive(0), _leave(0)],
    ),
    "on-first": (Rule.COLLECT, "off twice, or on twice", [_of(_K.COLLECT_ON, 0)]),
    "off-twice": (
        Rule.COLLECT, "off twice", [_of(_K.COLLECT_OFF, 0), _of(_K.COLLECT_OFF, 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _BREACHES)
def test_breach(name):
    """The last event breaks the rule, and legal events behind it change nothing."""
    rule, words, events = _BREACHES[name]
    rest = [_of(_K.LOAD, 2, address=8, size=8)] * 3
    _trace([*_START, *events[:-1]])
    with pytest.raises(TraceError) as caught:
        _trace([*_START, *events, *rest])
    assert caught.value.rule == rule
    assert caught.value.place == f"event {len(_START) + len(events) - 1}"
    assert words in str(caught.value)


def test_thread_0_begins_first():
    with pytest.raises(TraceError, match="Thread 0 acts before it begins"):
        _trace([_of(_K.LOAD, 0, size=1), *_START])


def test_a_crossing_waits_for_all_of_its_own():
    """Thread 0 is a crossing ahead: its arrival there must not let thread 1 out of the next."""
    events = [_arrive(0), _arrive(1), _leave(0), _arrive(0), _leave(1), _arrive(2), _leave(2)]
    _trace([*_START, *events, _leave(0), _arrive(1)])
    with pytest.raises(TraceError, match="Thread 1 leaves a barrier before all 2"):
        _trace([*_START, *events, _leave(0), _arrive(1), _leave(1)])


@pytest.mark.parametrize(
    "events",
    [
        [_acquire(0), _release(0), _acquire(1), _acquire(0, address=0x58), _release(1)],
        [_acquire(0, _READ), _acquire(1, _READ), _acquire(0, _READ), _release(0, _READ)],
        [_acquire(0, _READ), _release(0, _READ), _acquire(1, _WRITE), _release(1, _WRITE)],
        [_acquire(0, _MUTEX), _acquire(1, _WRITE)],  # two objects that were at one address
        [_acquire(0, SyncClass.SEMAPHORE), _release(1, SyncClass.CONDITION)],
        [_acquire(0)._replace(size=BOUNDED), _release(0)],
        [_arrive(0, 1), _leave(0, 1), _arrive(0, 1), _leave(0, 1)],
        [_arrive(0), _arrive(1), _leave(0), _leave(1), _arrive(2), _arrive(1), _leave(1)],
        [_of(_K.ATOMIC_LOAD, 0, size=16, value=MemoryOrder.ACQ_REL)],
        [_of(_K.ATOMIC_STORE, 0, size=4, value=(1 << 32) - 1)],  # its frame is above its order
        [_of(_K.LOAD, 0, address=(1 << 64) - 16, size=16)],
        [_of(_K.CREATE, 2, value=3)],  # it does not get to begin
        [_of(_K.COLLECT_OFF, 0), _of(_K.COLLECT_OFF, 1), _of(_K.COLLECT_ON, 0)],
        [_acquire(1), _of(_K.END, 1), _of(_K.JOIN, 2, value=1)],  # it ends with a mutex
    ],
)
def test_legal(events):
    assert list(_trace([*_START, *events])) == [*_START, *events]
