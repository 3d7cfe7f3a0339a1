"""Short access sequences with known verdicts, for blocks of one SM and of several."""

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.packets import Preliminary, TableRow

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE


def test_block_fence_does_not_reach_another_block(gpu):
    gpu.store(0)
    gpu.fence(0, BLOCK)
    gpu.load(1)
    assert gpu.races == ["MISSING_DEVICE_FENCE"]


def test_entry_handed_to_a_reader_hides_the_writer(gpu):
    """The known miss of a design that remembers one access: LOAD_FENCED_WRITE hands it over."""
    gpu.store(0)
    gpu.fence(0, BLOCK)
    gpu.load(0, warp=1)
    gpu.load(1)
    assert gpu.races == []


def test_strong_is_of_the_latest_access_only(gpu):
    """A known miss: the paper's text asks whether all accesses were strong."""
    gpu.store(0, strong=False)
    gpu.store(0)
    gpu.fence(0, DEVICE)
    gpu.load(1)
    assert gpu.races == []


def test_own_read_after_a_fence_clears_modified(gpu):
    """A known miss: without the read of the own write the race is found."""
    for word, reads_again in ((0, True), (1, False)):
        gpu.store(0, word=word)
        gpu.fence(0, BLOCK)
        if reads_again:
            gpu.load(0, word=word)
        gpu.load(1, word=word)
    assert gpu.races == ["MISSING_DEVICE_FENCE"]


def test_block_atomic_then_device_atomic_of_another_block(gpu):
    gpu.atomic(1, BLOCK)
    gpu.atomic(0, DEVICE)
    assert gpu.races == ["SCOPED_ATOMIC"]


def test_device_atomic_then_block_atomic_of_another_block(gpu):
    """Missed by the paper's rule, which looks at the earlier atomic's scope only."""
    gpu.atomic(0, DEVICE)
    gpu.atomic(1, BLOCK)
    assert gpu.races == []


def test_fence_does_not_widen_an_atomic(gpu):
    gpu.atomic(0, BLOCK)
    gpu.fence(0, DEVICE)
    gpu.load(1)
    assert gpu.races == ["SCOPED_ATOMIC"]


def test_store_without_the_lock_of_two_readers(gpu):
    for block in (0, 1):
        gpu.lock(block, DEVICE)
        gpu.load(block)
        gpu.unlock(block, DEVICE)
    gpu.store(0)
    assert gpu.races == ["MISSING_LOCK"]


def test_own_store_after_another_block_read(gpu):
    gpu.load(0)
    gpu.load(1)
    gpu.store(0)
    assert gpu.races == ["MISSING_BLOCK_FENCE"]


def test_two_stores_in_one_critical_section(gpu):
    for warp in (0, 1):
        gpu.lock(0, BLOCK, warp)
        gpu.load(0, warp)
        gpu.unlock(0, BLOCK, warp)
    gpu.lock(0, BLOCK)
    gpu.store(0)
    gpu.store(0)
    assert gpu.races == []


def test_one_race_does_not_hide_the_next(gpu):
    gpu.store(0)
    gpu.store(0, warp=1)
    gpu.load(0, warp=2)
    assert gpu.races == ["MISSING_BLOCK_FENCE"] * 2


@pytest.mark.parametrize(("fences", "races"), [(63, []), (64, ["MISSING_DEVICE_FENCE"])])
def test_fence_id_wraps(gpu, fences, races):
    gpu.store(0)
    for _ in range(fences):
        gpu.fence(0, DEVICE)
    gpu.load(1)
    assert gpu.races == races


@pytest.mark.parametrize(("barriers", "races"), [(255, []), (256, ["MISSING_BLOCK_FENCE"])])
def test_barrier_id_wraps(gpu, barriers, races):
    gpu.store(0)
    for _ in range(barriers):
        gpu.barrier(0)
    gpu.load(0, warp=1)
    assert gpu.races == races


def test_barrier_orders_its_block(gpu):
    gpu.store(0)
    gpu.barrier(0)
    (step,) = gpu.load(0, warp=1)
    assert (step.row, step.preliminary) == (TableRow.LOAD_FIRST, Preliminary.BARRIER)
    assert gpu.races == []


def test_barriers_do_not_order_two_blocks(gpu):
    gpu.store(0)
    gpu.barrier(0)
    gpu.barrier(1)
    gpu.load(1)
    assert gpu.races == ["MISSING_DEVICE_FENCE"]


def test_barrier_does_not_order_readers_of_another_block(gpu):
    gpu.load(0)
    gpu.load(1)
    gpu.barrier(0)
    gpu.store(0, warp=1)
    assert gpu.races == ["MISSING_BLOCK_FENCE"]


def test_weak_store_before_a_fence(gpu):
    gpu.store(0, strong=False)
    gpu.fence(0, DEVICE)
    gpu.load(1)
    assert gpu.races == ["NOT_STRONG"]


def test_weak_load_before_a_fence(gpu):
    gpu.load(0, strong=False)
    gpu.fence(0, DEVICE)
    gpu.store(1)
    assert gpu.races == ["NOT_STRONG"]


def test_readers_after_a_scoped_atomic_race_once(gpu):
    gpu.atomic(0, BLOCK)
    gpu.load(1)
    gpu.load(2)
    assert gpu.races == ["SCOPED_ATOMIC"]


def test_reader_without_the_lock_of_writer_and_reader(gpu):
    gpu.lock(0, DEVICE)
    gpu.store(0)
    gpu.unlock(0, DEVICE)
    gpu.lock(1, DEVICE)
    gpu.load(1)
    gpu.unlock(1, DEVICE)
    assert gpu.races == []
    gpu.load(2)
    assert gpu.races == ["MISSING_LOCK"]


def test_outermost_of_three_nested_device_locks(gpu):
    for word in (100, 200, 300):
        gpu.lock(0, DEVICE, word=word)
    gpu.store(0)
    for word in (300, 200, 100):
        gpu.unlock(0, DEVICE, word=word)
    gpu.lock(1, DEVICE, word=100)
    gpu.store(1)
    assert gpu.races == []


def test_tag_conflict_loses_the_earlier_access(make_gpu):
    gpu = make_gpu(ratio=16)
    gpu.store(0, word=0)
    (step,) = gpu.store(1, word=256)
    assert step.tag_conflict == 1
    gpu.load(2, word=0)
    assert gpu.races == []


def test_first_touch_of_another_tag_is_no_conflict(make_gpu):
    gpu = make_gpu(ratio=16)
    (step,) = gpu.store(0, word=256)
    assert step.tag_conflict == 0


@pytest.mark.parametrize("lock", [BLOCK, DEVICE])
@pytest.mark.parametrize("fence", [BLOCK, DEVICE])
def test_scope_of_a_lock_is_the_narrowest_of_its_parts(gpu, lock, fence):
    """Two blocks under one lock: protected only if both CAS and fence have device scope."""
    gpu.lock(0, lock, fence=fence)
    gpu.store(0)
    gpu.fence(0, DEVICE)
    gpu.lock(1, DEVICE)
    gpu.store(1)
    protected = lock == DEVICE and fence == DEVICE
    assert ("MISSING_LOCK" not in gpu.races) == protected


@pytest.mark.parametrize("first", [BLOCK, DEVICE])
@pytest.mark.parametrize("second", [BLOCK, DEVICE])
def test_locks_of_any_scope_protect_inside_a_block(gpu, first, second):
    gpu.lock(0, first)
    gpu.store(0)
    gpu.unlock(0, first)
    gpu.lock(0, second, warp=1)
    gpu.store(0, warp=1)
    assert gpu.races == []
