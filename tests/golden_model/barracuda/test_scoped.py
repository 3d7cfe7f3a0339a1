"""Rules of the scope-aware extension, and the probes of the detector with what is true of them."""

import pytest

from racetrap.golden_model.barracuda import ScopedOracle
from racetrap.golden_model.events import AtomicOp, EventKind
from tests.support.oracle.programs import BLOCK, DEVICE, Program

HERE, SAME_BLOCK, OTHER_BLOCK, THIRD_BLOCK = (0, 0), (0, 1), (1, 0), (2, 0)
DATA, FLAG, LOCK = 0, 0x80, 0x100
INTRA_BLOCK = ("unordered", "intra-block")
INTER_BLOCK = ("unordered", "inter-block")
WEAK = ("not-strong", "inter-block")
SCOPED_ATOMIC = ("scoped-atomic", "inter-block")


@pytest.fixture
def program() -> Program:
    return Program(blocks=3)


def _publish(program, where, fence, scope=DEVICE, access="store"):
    getattr(program, access)(where, DATA)
    program.fence(where, fence)
    program.atomic(where, FLAG, scope, AtomicOp.EXCH)


def _observe(program, where, scope=DEVICE, access="load"):
    program.atomic(where, FLAG, scope)
    getattr(program, access)(where, DATA)


@pytest.mark.parametrize("fence", [BLOCK, DEVICE])
@pytest.mark.parametrize("release", [BLOCK, DEVICE])
@pytest.mark.parametrize("acquire", [BLOCK, DEVICE])
def test_flag_between_blocks_needs_device_scope_thrice(scoped, program, fence, release, acquire):
    _publish(program, HERE, fence, release)
    _observe(program, OTHER_BLOCK, acquire)
    races = scoped(program)
    assert (INTER_BLOCK in races) == (BLOCK in (fence, release, acquire))
    assert (SCOPED_ATOMIC in races) == (BLOCK in (release, acquire))


@pytest.mark.parametrize("fence", [BLOCK, DEVICE])
@pytest.mark.parametrize("release", [BLOCK, DEVICE])
@pytest.mark.parametrize("acquire", [BLOCK, DEVICE])
def test_flag_in_a_block_does_with_any_scope(scoped, program, fence, release, acquire):
    _publish(program, HERE, fence, release)
    _observe(program, SAME_BLOCK, acquire)
    assert scoped(program) == []


def test_release_publishes_what_came_before_its_fence(scoped, program):
    program.fence(HERE, DEVICE)
    program.store(HERE, DATA)
    program.atomic(HERE, FLAG)
    _observe(program, OTHER_BLOCK)
    assert scoped(program) == [INTER_BLOCK]


def test_flag_read_before_the_release_tells_nothing(scoped, program):
    program.store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.atomic(OTHER_BLOCK, FLAG)
    program.atomic(HERE, FLAG)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == [INTER_BLOCK]


def test_weak_flag_does_not_synchronise(scoped, program):
    program.store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.weak_store(HERE, FLAG)
    _observe(program, OTHER_BLOCK)
    assert scoped(program) == [INTER_BLOCK, INTER_BLOCK]  # flag and data


def test_volatile_flag_is_raced_over_but_synchronises(scoped, program):
    program.store(HERE, DATA)
    program.fence(HERE, DEVICE)
    flag = program.store(HERE, FLAG)
    program.load(OTHER_BLOCK, FLAG)
    program.load(OTHER_BLOCK, DATA)
    (race,) = ScopedOracle().run(program.trace)
    assert race.first.pc == flag


def test_acquire_and_release_by_name_are_atomics(scoped, program):
    program.store(HERE, DATA)
    program.fence(HERE, DEVICE, pc=0x5000)
    program.store(HERE, FLAG, pc=0x5000)
    program.load(OTHER_BLOCK, FLAG, pc=0x6000)
    program.fence(OTHER_BLOCK, DEVICE, pc=0x6000)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == []


def test_order_is_transitive_over_scopes(scoped, program):
    """Block scope to a warp of the block, device scope on from there (HRF-indirect)."""
    _publish(program, HERE, BLOCK)
    program.atomic(SAME_BLOCK, FLAG)
    program.fence(SAME_BLOCK, DEVICE)
    program.atomic(SAME_BLOCK, LOCK)
    program.atomic(OTHER_BLOCK, LOCK)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == []


def test_fence_behind_a_barrier_publishes_the_whole_block(scoped, program):
    program.store(HERE, DATA)
    program.barrier(0)
    program.fence(SAME_BLOCK, DEVICE)
    program.atomic(SAME_BLOCK, FLAG)
    _observe(program, OTHER_BLOCK)
    assert scoped(program) == []


@pytest.mark.parametrize(
    ("where", "scope", "fence", "races"),
    [
        (OTHER_BLOCK, DEVICE, DEVICE, []),
        (OTHER_BLOCK, DEVICE, BLOCK, [INTER_BLOCK]),
        (OTHER_BLOCK, DEVICE, None, [INTER_BLOCK]),
        (OTHER_BLOCK, BLOCK, DEVICE, [SCOPED_ATOMIC, INTER_BLOCK]),
        (SAME_BLOCK, BLOCK, BLOCK, []),
        (SAME_BLOCK, DEVICE, BLOCK, []),
        (SAME_BLOCK, DEVICE, None, [INTRA_BLOCK]),
    ],
)
def test_lock_is_taken_with_the_fence_behind_it(scoped, program, where, scope, fence, races):
    """At the narrower scope of CAS and fence; the free is as good as can be."""
    program.take(HERE, LOCK, fence=DEVICE)
    program.store(HERE, DATA)
    program.free(HERE, LOCK, fence=DEVICE)
    program.take(where, LOCK, scope, fence)
    program.store(where, DATA)
    assert scoped(program) == races


def test_later_device_fence_widens_a_lock(scoped, program):
    program.store(HERE, DATA)
    program.free(HERE, LOCK, fence=DEVICE)
    program.take(OTHER_BLOCK, LOCK, fence=BLOCK)
    program.fence(OTHER_BLOCK, DEVICE)
    program.store(OTHER_BLOCK, DATA)
    assert scoped(program) == []


def test_cas_that_fails_neither_acquires_nor_releases(scoped, program):
    program.store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.take(HERE, LOCK, success=False)
    program.atomic(OTHER_BLOCK, LOCK)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == [INTER_BLOCK]
    program.free(HERE, LOCK)
    program.take(OTHER_BLOCK, LOCK, fence=DEVICE, success=False)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == [INTER_BLOCK, INTER_BLOCK]


def test_cas_of_other_values_acquires_at_once(scoped, program):
    _publish(program, HERE, DEVICE)
    program.atomic(OTHER_BLOCK, FLAG, op=AtomicOp.CAS, value=2, compare=1, success=True)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == []


@pytest.mark.parametrize(("writer", "reader"), [("weak_store", "load"), ("store", "weak_load")])
def test_fences_do_not_order_weak_accesses(scoped, program, writer, reader):
    _publish(program, HERE, DEVICE, access=writer)
    _observe(program, OTHER_BLOCK, access=reader)
    assert scoped(program) == [WEAK]


def test_barriers_order_weak_accesses(scoped, program):
    program.weak_store(HERE, DATA)
    program.barrier(0)
    program.weak_load(SAME_BLOCK, DATA)
    assert scoped(program) == []


def test_weak_store_behind_the_own_atomic(scoped, program):
    """The last block of a reduction resets the ticket that all blocks counted."""
    for where in (HERE, OTHER_BLOCK):
        program.fence(where, DEVICE)
        program.atomic(where, FLAG)
    program.weak_store(OTHER_BLOCK, FLAG)
    assert scoped(program) == []


# Probes of the detector: pairs of accesses of which the detector knows the verdict.


def test_device_atomic_then_block_atomic_of_another_block(scoped, program):
    """ScoRD looks at the earlier atomic's scope alone and misses this (refinement A)."""
    program.atomic(HERE, DATA, DEVICE)
    program.atomic(OTHER_BLOCK, DATA, BLOCK)
    assert scoped(program) == [SCOPED_ATOMIC]


def test_block_atomic_then_device_atomic_of_another_block(scoped, program):
    program.atomic(HERE, DATA, BLOCK)
    program.atomic(OTHER_BLOCK, DATA, DEVICE)
    assert scoped(program) == [SCOPED_ATOMIC]


def test_ordered_atomics_may_have_any_scope(scoped, program):
    _publish(program, HERE, DEVICE, access="atomic")
    program.atomic(OTHER_BLOCK, FLAG)
    program.atomic(OTHER_BLOCK, DATA, BLOCK)
    assert scoped(program) == []


def test_entry_handed_to_a_reader_hides_nothing(scoped, program):
    """Block fence, reader in the block, reader in another block: ScoRD misses the last."""
    _publish(program, HERE, BLOCK)
    _observe(program, SAME_BLOCK)
    _observe(program, OTHER_BLOCK)
    assert scoped(program) == [INTER_BLOCK]


def test_own_store_after_another_block_read(scoped, program):
    program.load(HERE, DATA)
    program.load(OTHER_BLOCK, DATA)
    program.store(HERE, DATA)
    assert scoped(program) == [INTER_BLOCK]


def test_reader_without_the_lock_of_the_others(scoped, program):
    program.store(HERE, DATA)
    program.free(HERE, LOCK, fence=DEVICE)
    program.take(OTHER_BLOCK, LOCK, fence=DEVICE)
    program.load(OTHER_BLOCK, DATA)
    bare = program.load(THIRD_BLOCK, DATA)
    (race,) = ScopedOracle().run(program.trace)
    assert (race.second.pc, race.second.access) == (bare, EventKind.LOAD)


@pytest.mark.parametrize("fences", [1, 64])
def test_counters_do_not_wrap(scoped, program, fences):
    program.store(HERE, DATA)
    for _ in range(fences):
        program.fence(HERE, DEVICE)
    program.atomic(HERE, FLAG)
    _observe(program, OTHER_BLOCK)
    assert scoped(program) == []


def test_barriers_of_two_blocks_do_not_order_them(scoped, program):
    program.store(HERE, DATA)
    program.barrier(0)
    program.barrier(1)
    program.load(OTHER_BLOCK, DATA)
    assert scoped(program) == [INTER_BLOCK]
