"""Tracker: packets of each kind of transaction, and what the lock table and barriers do."""

from random import Random

import pytest

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.scord.packets import Packet, PacketKind, Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.tracker import Tracker, granule_mask

K = TransactionKind
DEVICE = Scope.DEVICE


@pytest.fixture
def tracker():
    return Tracker(ScordParams(), 3)


def cas(mask, lock_mask, **fields):
    return Transaction(
        K.ATOMIC, scope=DEVICE, strong=1, op=AtomicOp.CAS, mask=mask, lock_mask=lock_mask, **fields
    )


@pytest.mark.parametrize("kind", [K.LOAD, K.STORE])
def test_one_packet_a_word_lowest_first(tracker, kind):
    packets = tracker.step(Transaction(kind, 0, 1, 0, 2, 7, 0x40, 5, 0x8000_0011))
    assert packets == [
        Packet(int(kind), 0, 1, 3 * 8 + 2, 7, 0, 0, 0x40, 5 * 32 + word) for word in (0, 4, 31)
    ]


@pytest.mark.parametrize("granularity", [4, 8, 16])
def test_granule_mask(granularity):
    rng = Random(granularity)
    words = granularity // 4
    for _ in range(200):
        mask = rng.getrandbits(32) & rng.getrandbits(32)
        groups = {word // words for word in range(32) if mask >> word & 1}
        assert granule_mask(mask, granularity) == sum(1 << group * words for group in groups)


@pytest.mark.parametrize(("kind", "words"), [(K.STORE, [0, 4]), (K.ATOMIC, [1, 2, 5])])
def test_units_of_loads_and_stores_but_words_of_atomics(kind, words):
    tracker = Tracker(ScordParams(granularity=16), 0)
    packets = tracker.step(Transaction(kind, op=AtomicOp.OTHER, strong=1, mask=0b100110))
    assert [packet.word for packet in packets] == words


def test_empty_mask_gives_nothing(tracker):
    assert tracker.step(Transaction(K.LOAD)) == []


def test_fence_packet_carries_no_more_than_it_must(tracker):
    tracker.step(Transaction(K.BARRIER, slot=2))
    tracker.step(cas(1, 1, slot=2, warp=7))
    (packet,) = tracker.step(Transaction(K.FENCE, scope=DEVICE, slot=2, warp=7, pc=0x48))
    assert packet == Packet(PacketKind.FENCE, DEVICE, 0, 26, 7, 0, 0, 0, 0)


def test_lock_protects_from_its_fence_to_its_release(tracker):
    def load():
        return tracker.step(Transaction(K.LOAD, warp=7, mask=1))[0].filter

    (acquire,) = tracker.step(cas(1, 1, warp=7))
    assert (acquire.filter, load()) == (0, 0)
    tracker.step(Transaction(K.FENCE, scope=DEVICE, warp=7))
    held = load()
    assert held
    release = Transaction(K.ATOMIC, DEVICE, 1, AtomicOp.EXCH, warp=7, mask=1, lock_mask=1)
    assert [packet.filter for packet in tracker.step(release)] == [held]
    assert load() == 0


def test_words_of_one_atomic_update_the_table_in_turn(tracker):
    """The second word's packet already sees the release of the first."""
    tracker.step(cas(0b11, 0b11))
    tracker.step(Transaction(K.FENCE, scope=DEVICE))
    release = Transaction(K.ATOMIC, DEVICE, 1, AtomicOp.EXCH, mask=0b11, lock_mask=0b11)
    first, second = tracker.step(release)
    assert first.filter != second.filter != 0
    assert not tracker.lock_tables[0].entries


@pytest.mark.parametrize("op", [AtomicOp.CAS, AtomicOp.EXCH, AtomicOp.OTHER])
def test_words_outside_the_lock_mask_touch_no_lock(tracker, op):
    tracker.step(cas(1, 1))
    before = list(tracker.lock_tables[0].entries)
    tracker.step(Transaction(K.ATOMIC, DEVICE, 1, op, mask=0b11, lock_mask=0))
    assert tracker.lock_tables[0].entries == before


def test_other_atomics_touch_no_lock(tracker):
    tracker.step(Transaction(K.ATOMIC, DEVICE, 1, AtomicOp.OTHER, mask=1, lock_mask=1))
    assert not tracker.lock_tables[0].entries


def test_block_start_clears_the_tables_of_its_warps_only(tracker):
    for warp in range(4):
        tracker.step(cas(1, 1, warp=warp))
    assert tracker.step(Transaction(K.BLOCK_START, slot=1, mask=0b0110)) == []
    assert [bool(table.entries) for table in tracker.lock_tables[:4]] == [True, False, False, True]


def test_block_start_clears_upper_warps():
    tracker = Tracker(ScordParams(warps_per_sm=64), 3)
    for warp in (7, 39, 40):
        tracker.step(cas(1, 1, warp=warp))
    tracker.step(Transaction(K.BLOCK_START, lock_mask=1 << 7))
    held = [warp for warp, table in enumerate(tracker.lock_tables) if table.entries]
    assert held == [7, 40]


def test_barrier_counts_for_its_block_and_wraps(tracker):
    def barrier_id(slot):
        return tracker.step(Transaction(K.LOAD, slot=slot, mask=1))[0].barrier_id

    for _ in range(255):
        assert tracker.step(Transaction(K.BARRIER, slot=2)) == []
    assert (barrier_id(2), barrier_id(1)) == (255, 0)
    tracker.step(Transaction(K.BLOCK_START, slot=2, mask=1))
    assert barrier_id(2) == 255
    tracker.step(Transaction(K.BARRIER, slot=2))
    assert barrier_id(2) == 0


def test_generation_counts_the_blocks_of_its_slot_and_wraps():
    tracker = Tracker(ScordParams(slot_generation_bits=2), 3)

    def generations():
        kinds = (K.LOAD, K.STORE, K.ATOMIC)
        packets = [
            tracker.step(Transaction(kind, slot=slot, mask=1))[0]
            for slot in (2, 1)
            for kind in kinds
        ]
        return [packet.generation for packet in packets]

    for expected in (1, 2, 3, 0, 1):
        assert tracker.step(Transaction(K.BLOCK_START, slot=2, mask=0b11)) == []
        assert generations() == [expected] * 3 + [0] * 3
    (fence,) = tracker.step(Transaction(K.FENCE, slot=2))
    assert fence.generation == 0
    tracker.clear()
    assert generations() == [0] * 6


@pytest.mark.parametrize(
    ("warps", "fields", "generation"),
    [
        (32, {"mask": 1 << 31}, 1), (32, {}, 0), (5, {"mask": 1 << 5}, 0), (5, {"mask": 1 << 4}, 1),
        (64, {"lock_mask": 1 << 31}, 1), (33, {"lock_mask": 1 << 1}, 0),
    ],
)  # fmt: skip
def test_a_block_without_a_warp_of_the_sm_is_none(warps, fields, generation):
    tracker = Tracker(ScordParams(warps_per_sm=warps, slot_generation_bits=2), 3)
    tracker.step(Transaction(K.BLOCK_START, slot=2, **fields))
    assert tracker.step(Transaction(K.LOAD, slot=2, mask=1))[0].generation == generation


def test_no_generation_without_bits(tracker):
    tracker.step(Transaction(K.BLOCK_START, slot=2, mask=1))
    assert tracker.step(Transaction(K.LOAD, slot=2, mask=1))[0].generation == 0


def test_clear_forgets_everything(tracker):
    tracker.step(cas(1, 1))
    tracker.step(Transaction(K.BARRIER))
    tracker.clear()
    for table in tracker.lock_tables:
        assert not table.entries
    assert set(tracker.barrier_ids.ids) == {0}


@pytest.mark.parametrize("sm", [-1, 15])
def test_sm_out_of_range(sm):
    with pytest.raises(ValueError, match=f"SM must be from 0 to 14, not {sm}"):
        Tracker(ScordParams(), sm)
