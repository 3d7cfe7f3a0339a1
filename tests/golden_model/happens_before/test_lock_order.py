"""Lock-order inversions: cycles of two and more locks, and what excludes them."""

import pytest

from racetrap.golden_model.happens_before.lock_order import lock_order_inversions
from racetrap.golden_model.trace.threads.events import BOUNDED, SyncClass, ThreadEventKind
from tests.support.sigrace.programs import ThreadProgram

_A, _B, _C, _GATE = 0x9000, 0x9100, 0x9200, 0x9300
_READ, _WRITE = SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE


def _nested(program, thread, *locks, classes=(), bounded=()):
    """Acquires locks one in another; the place of each is the thread's and the lock's."""
    classes = classes or (SyncClass.MUTEX,) * len(locks)
    own = list(zip(locks, classes, strict=True))
    for lock, value in own:
        wait = BOUNDED * (lock in bounded)
        program.add(ThreadEventKind.ACQUIRE, thread, lock, wait, value=value, pc=lock + thread)
    for lock, value in reversed(own):
        program.add(ThreadEventKind.RELEASE, thread, lock, value=value)


def _inversions(*nests, classes=((), (), ())):
    program = ThreadProgram(len(nests))
    for thread, locks in enumerate(nests):
        _nested(program, thread, *locks, classes=classes[thread])
    return lock_order_inversions(program.trace())


def test_two_orders_of_two_locks():
    ((one, other),) = _inversions((_A, _B), (_B, _A))
    assert (one.thread, one.held, one.acquired) == (0, _A, _B)
    assert (one.held_pc, one.acquired_pc) == (_A, _B)
    assert (other.thread, other.held, other.acquired) == (1, _B, _A)
    assert (other.held_pc, other.acquired_pc) == (_B + 1, _A + 1)


def test_the_same_order_or_the_same_thread():
    assert _inversions((_A, _B, _C), (_A, _C), (_B, _C)) == []
    program = ThreadProgram(2)
    _nested(program, 1, _A, _B)
    _nested(program, 1, _B, _A)
    assert lock_order_inversions(program.trace()) == []


def test_a_lock_around_all_excludes_it():
    assert _inversions((_GATE, _A, _B), (_GATE, _B, _A)) == []
    assert len(_inversions((_GATE, _A, _B), (_B, _A))) == 1


def test_three_locks_in_a_ring():
    ((first, second, third),) = _inversions((_A, _B), (_B, _C), (_C, _A))
    assert (first.held, second.held, third.held) == (_A, _B, _C)
    assert third.acquired == _A
    # A thread cannot be at two places of the ring.
    program = ThreadProgram(2)
    _nested(program, 0, _A, _B)
    _nested(program, 1, _B, _C)
    _nested(program, 0, _C, _A)
    assert lock_order_inversions(program.trace()) == []


def test_readers_do_not_wait_for_each_other():
    def both(outer, inner):
        classes = ((SyncClass.MUTEX, inner), (outer, SyncClass.MUTEX))
        return len(_inversions((_A, _B), (_B, _A), classes=classes))

    assert both(_READ, _READ) == 0
    assert both(_WRITE, _READ) == both(_READ, _WRITE) == 1


def test_a_lock_that_was_released_is_not_held():
    program = ThreadProgram(2)
    _nested(program, 0, _A)
    _nested(program, 0, _B)
    _nested(program, 1, _B, _A)
    assert lock_order_inversions(program.trace()) == []


@pytest.mark.parametrize("sync_class", [SyncClass.MUTEX, _READ, _WRITE])
@pytest.mark.parametrize(
    ("bounded", "found"), [((), 1), ((_A,), 1), ((_B,), 0), ((_A, _B), 0)]
)  # fmt: skip
def test_a_bounded_wait_closes_no_cycle_but_holds_its_lock(sync_class, bounded, found):
    program = ThreadProgram(2)
    _nested(program, 0, _A, _B, classes=(SyncClass.MUTEX, sync_class), bounded=bounded)
    _nested(program, 1, _B, _A)
    assert len(lock_order_inversions(program.trace())) == found


def test_a_lock_acquired_by_an_attempt_excludes_others():
    program = ThreadProgram(2)
    _nested(program, 0, _GATE, _A, _B, bounded=(_GATE,))
    _nested(program, 1, _GATE, _B, _A)
    assert lock_order_inversions(program.trace()) == []
