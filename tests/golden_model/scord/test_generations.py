"""Blocks of one slot, told apart by its generation: short sequences with known verdicts."""

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.packets import Preliminary, TableRow

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE
MISSING_DEVICE_FENCE = ["MISSING_DEVICE_FENCE"]


@pytest.fixture
def new_gpu(make_gpu):
    """Makes a GPU with generations of so many bits, each slot with its first block."""

    def make(bits=2):
        gpu = make_gpu(slot_generation_bits=bits)
        for block in range(3):
            gpu.start(block)
        return gpu

    return make


@pytest.mark.parametrize(("bits", "races"), [(0, []), (1, MISSING_DEVICE_FENCE)])
@pytest.mark.parametrize("warp", [0, 1])
def test_unfenced_write_of_the_block_before(new_gpu, bits, races, warp):
    """Without generations: program order, or a missing fence inside a block."""
    gpu = new_gpu(bits)
    gpu.store(0)
    gpu.start(0)
    gpu.load(0, warp)
    assert gpu.races == (races if bits or not warp else ["MISSING_BLOCK_FENCE"])


def test_both_blocks_are_told_apart_in_the_report(new_gpu):
    gpu = new_gpu()
    gpu.store(0, warp=1)
    gpu.start(0)
    gpu.load(0)
    (race,) = gpu.scord.races
    assert (race.device_race, race.race_scope) == (1, DEVICE)
    assert race.block == race.owner_block
    assert "an earlier block of its slot, warp" in race.sentence()
    gpu.load(1)
    gpu.store(2)
    assert "by an earlier block" not in gpu.scord.races[1].sentence()


def test_fence_of_the_earlier_block_orders(new_gpu):
    gpu = new_gpu()
    gpu.store(0)
    gpu.fence(0, DEVICE)
    gpu.start(0)
    gpu.load(0)
    assert gpu.races == []


def test_block_fence_of_the_earlier_block_does_not(new_gpu):
    gpu = new_gpu()
    gpu.store(0)
    gpu.fence(0, BLOCK)
    gpu.start(0)
    gpu.load(0)
    assert gpu.races == MISSING_DEVICE_FENCE


@pytest.mark.parametrize(("warp", "races"), [(0, []), (1, MISSING_DEVICE_FENCE)])
def test_fence_of_the_later_block_counts_for_its_warp_slot(new_gpu, warp, races):
    """A known miss: fences are counted for a warp slot, whoever executes them."""
    gpu = new_gpu()
    gpu.store(0)
    gpu.start(0)
    gpu.fence(0, DEVICE, warp)
    gpu.load(0)
    assert gpu.races == races


def test_barriers_do_not_order_blocks_of_one_slot(new_gpu):
    for barriers in (0, 1):
        gpu = new_gpu()
        gpu.store(0)
        gpu.start(0)
        for _ in range(barriers):
            gpu.barrier(0)
        (step,) = gpu.load(0, warp=1)
        assert step.preliminary == Preliminary.NONE
        assert gpu.races == MISSING_DEVICE_FENCE


def test_barrier_orders_the_later_block_as_any(new_gpu):
    gpu = new_gpu()
    gpu.start(0)
    gpu.store(0)
    gpu.barrier(0)
    (step,) = gpu.load(0, warp=1)
    assert step.preliminary == Preliminary.BARRIER
    assert gpu.races == []


def test_program_order_inside_the_later_block(new_gpu):
    gpu = new_gpu()
    gpu.start(0)
    gpu.store(0)
    gpu.load(0)
    gpu.store(0)
    assert gpu.races == []


def test_start_in_another_slot_changes_nothing(new_gpu):
    gpu = new_gpu()
    gpu.store(0)
    gpu.start(1)
    (step,) = gpu.load(0)
    assert step.preliminary == Preliminary.PROGRAM_ORDER
    assert gpu.races == []


def test_block_scope_atomic_of_the_earlier_block(new_gpu):
    gpu = new_gpu()
    gpu.atomic(0, BLOCK)
    gpu.fence(0, DEVICE)
    gpu.start(0)
    gpu.atomic(0, DEVICE)
    assert gpu.races == ["SCOPED_ATOMIC"]


def test_reader_of_the_later_block_is_one_of_another_block(new_gpu):
    gpu = new_gpu()
    gpu.load(0)
    gpu.start(0)
    (step,) = gpu.load(0)
    assert step.row == TableRow.LOAD_AFTER_READ
    gpu.barrier(0)
    gpu.store(0)
    assert gpu.races == MISSING_DEVICE_FENCE


@pytest.mark.parametrize(("scope", "races"), [(BLOCK, ["SCOPED_ATOMIC"]), (DEVICE, [])])
def test_lock_of_the_slot_is_one_lock(new_gpu, scope, races):
    """The data are taken for locked, whatever the scope; that of the lock itself is reported."""
    gpu = new_gpu()
    for again in (False, True):
        if again:
            gpu.start(0)
        gpu.lock(0, scope)
        gpu.store(0)
        gpu.fence(0, DEVICE)
        gpu.unlock(0, scope)
    assert gpu.races == races


@pytest.mark.parametrize("bits", [1, 2, 6])
def test_generation_wraps(new_gpu, bits):
    """A known miss: block 2^n of a slot is taken for the first."""
    for starts, races in ((2**bits - 1, MISSING_DEVICE_FENCE), (2**bits, [])):
        gpu = new_gpu(bits)
        gpu.store(0)
        for _ in range(starts):
            gpu.start(0)
        gpu.load(0)
        assert gpu.races == races


def test_launch_forgets_generations(new_gpu):
    gpu = new_gpu()
    steps = gpu.store(0)
    gpu.launch()
    steps += gpu.store(0)
    assert [step.packet.generation for step in steps] == [1, 0]
