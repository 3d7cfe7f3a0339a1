"""Detector bank: what a step says beyond the decision."""

from random import Random

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detector_bank import COUNTERS, DetectorBank
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY, unpack_entry
from racetrap.golden_model.scord.packets import Packet, PacketKind, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams


def access(kind=PacketKind.STORE, block=0, warp=0, word=0):
    return Packet(kind, 0, 1, block, warp, 0, 0, 0x40, word)


def fence(scope, block=0, warp=0):
    return Packet(PacketKind.FENCE, scope, 0, block, warp, 0, 0, 0x44, 0)


@pytest.fixture
def bank():
    return DetectorBank(ScordParams(), Region(data_base=0x4000, size_log2=14))


BASE = 0x1000


def test_fence_step(bank):
    step = bank.step(fence(Scope.DEVICE, 3, 4))
    assert (step.row, step.before, step.after) == (TableRow.FENCE, 0, 0)
    assert (step.own_blk_fence_id, step.own_dev_fence_id) == (0, 1)
    step = bank.step(fence(Scope.BLOCK, 3, 4))
    assert (step.own_blk_fence_id, step.own_dev_fence_id) == (1, 1)
    assert (step.owner_blk_fence_id, step.owner_dev_fence_id) == (0, 0)


@pytest.mark.parametrize("word", [BASE - 1, BASE + 4096, 0])
def test_unmonitored_access(bank, word):
    bank.step(fence(Scope.DEVICE))
    step = bank.step(access(word=word))
    assert step == (access(word=word), TableRow.UNMONITORED, *[0] * 10)
    assert not bank.entries
    assert bank.counters["unmonitored"] == 1
    assert bank.counters["accesses"] == 0


@pytest.mark.parametrize("word", [BASE, BASE + 4095])
def test_both_ends_of_the_region_are_monitored(bank, word):
    assert bank.step(access(word=word)).row == TableRow.STORE_FIRST


def test_counters_of_owner_and_accessor(bank):
    bank.step(access(block=3, warp=4, word=BASE))
    for packet in (fence(Scope.BLOCK, 3, 4), fence(Scope.DEVICE, 3, 4), fence(Scope.BLOCK, 9, 1)):
        bank.step(packet)
    step = bank.step(access(PacketKind.LOAD, 9, 1, BASE))
    assert (step.owner_blk_fence_id, step.owner_dev_fence_id) == (1, 1)
    assert (step.own_blk_fence_id, step.own_dev_fence_id) == (1, 0)


def test_steps_chain_through_the_entry(bank):
    first = bank.step(access(word=BASE))
    second = bank.step(access(block=1, word=BASE))
    assert (first.before, first.after) == (UNINITIALISED_ENTRY, second.before)
    assert second.race == RaceKind.MISSING_DEVICE_FENCE
    assert bank.entries == {0: second.after}


def test_read_error_is_taken_as_uninitialised(bank):
    bank.step(access(word=BASE))
    step = bank.step(access(block=1, word=BASE + 256), read_error=True)
    assert (step.row, step.race, step.read_error) == (TableRow.STORE_FIRST, 0, 1)
    assert (step.before, step.tag_conflict) == (0, 0)
    assert bank.counters["metadata_read_errors"] == 1


def test_tag_conflict(bank):
    first = bank.step(access(word=BASE))
    step = bank.step(access(block=1, word=BASE + 256))
    assert (step.row, step.race, step.tag_conflict) == (TableRow.STORE_FIRST, 0, 1)
    assert step.before == first.after


def test_clear_keeps_only_the_counters(bank):
    bank.step(access(word=BASE))
    bank.step(fence(Scope.DEVICE))
    bank.clear()
    assert not bank.entries
    assert bank.fence_file.read(0, 0) == (0, 0)
    assert bank.counters["accesses"] == bank.counters["fences"] == 1


def test_counters_add_up(bank):
    bank.step(access(word=BASE))
    bank.step(access(word=BASE))
    bank.step(access(block=1, word=BASE))
    bank.step(fence(Scope.BLOCK))
    assert bank.counters.keys() == COUNTERS.keys()
    assert {name: count for name, count in bank.counters.items() if count} == {
        "accesses": 3,
        "fences": 1,
        "preliminary_initialization": 1,
        "preliminary_program_order": 1,
        "races_missing_device_fence": 1,
    }


@pytest.mark.parametrize("bits", [2, 6])
@pytest.mark.parametrize("scope", list(Scope))
def test_fence_ids_wrap(bits, scope):
    bank = DetectorBank(ScordParams(fence_id_bits=bits), Region())
    steps = [bank.step(fence(scope)) for _ in range(1 << bits)]
    name = f"own_{'dev' if scope else 'blk'}_fence_id"
    assert [getattr(step, name) for step in steps] == [*range(1, 1 << bits), 0]


def test_bank_out_of_range():
    with pytest.raises(ValueError, match="Bank must be from 0 to 3, not 4"):
        DetectorBank(ScordParams(banks=4), Region(), 4)


@pytest.mark.parametrize("granularity", [4, 8, 16])
@pytest.mark.parametrize("ratio", [1, 4, 16])
def test_entry_of_a_word_is_where_the_region_says(granularity, ratio):
    params = ScordParams(granularity=granularity, ratio=ratio)
    region = Region(data_base=0x4000, size_log2=12)
    bank = DetectorBank(params, region)
    rng = Random(f"{granularity} {ratio}")
    for _ in range(500):
        word = rng.randrange(0x3000 // 4, 0x6000 // 4)
        bank.clear()
        step = bank.step(access(word=word))
        assert (step.row == TableRow.UNMONITORED) == (not region.contains(4 * word))
        if region.contains(4 * word):
            index, tag = region.locate(params, 4 * word)
            assert list(bank.entries) == [index]
            assert unpack_entry(params, bank.entries[index])["tag"] == tag


def test_unusable_region():
    with pytest.raises(ValueError, match="Region data_base must be a multiple"):
        DetectorBank(ScordParams(), Region(data_base=4, size_log2=12))
