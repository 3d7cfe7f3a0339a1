"""Words of warp instructions, and what stands before and behind them."""

import pytest

from racetrap.golden_model.causality.packets import FenceOrder, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import (
    ALL_LANES,
    AtomicOp,
    Event,
    EventKind,
    Lane,
    MemoryOrder,
    Scope,
    Space,
)

PARAMS = CausalityParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, address_bits=32)


def access(kind: EventKind, *lanes: Lane, size: int = 4, **fields) -> Event:
    return Event(kind, size=size, lanes=lanes, pc=0x100, **fields)


def words(event: Event) -> list[tuple[int, int, int]]:
    """Word, bytes and lanes of each transaction."""
    return [(made.word, made.bytes, made.lanes) for made in split_words(event, PARAMS)]


@pytest.mark.parametrize(
    ("address", "size", "expected"),
    [
        (0, 1, [(0, 1)]),
        (3, 1, [(0, 8)]),
        (2, 2, [(0, 12)]),
        (4, 4, [(1, 15)]),
        (8, 8, [(2, 15), (3, 15)]),
        (16, 16, [(4, 15), (5, 15), (6, 15), (7, 15)]),
        # Not aligned: as the executor would refuse, but a trace may have it.
        (3, 2, [(0, 8), (1, 1)]),
    ],
)
def test_access_is_to_bytes_of_words(address, size, expected):
    event = access(EventKind.LOAD, Lane(5, address), size=size)
    assert words(event) == [(*place, 1 << 5) for place in expected]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 31, 32])
def test_lanes_at_one_place_are_one_transaction(count):
    same = access(EventKind.LOAD, *(Lane(lane, 64) for lane in range(count)))
    assert words(same) == [(16, 15, (1 << count) - 1)]
    apart = access(EventKind.LOAD, *(Lane(lane, 64 + 4 * lane) for lane in range(count)))
    assert words(apart) == [(16 + lane, 15, 1 << lane) for lane in range(count)]
    bytes_apart = access(EventKind.LOAD, *(Lane(lane, lane) for lane in range(count)), size=1)
    assert words(bytes_apart) == [(lane // 4, 1 << lane % 4, 1 << lane) for lane in range(count)]


def test_failing_cas_reads_and_the_others_write():
    event = access(
        EventKind.ATOMIC, Lane(0, 0, 1, 0, True), Lane(1, 0, 1, 0, False),
        op=AtomicOp.CAS, strong=True,
    )  # fmt: skip
    made = split_words(event, PARAMS)
    assert [(each.lanes, each.writes) for each in made] == [(1, 1), (2, 0)]
    assert [each for each in made if not (each.strong and each.named)] == []


@pytest.mark.parametrize(
    ("stores", "expected"),
    [
        ((0, 1, 0), [(1, 0), (2, 1), (4, 0)]),
        ((1, 0, 0), [(1, 1), (6, 0)]),
        ((0, 0, 1), [(3, 0), (4, 1)]),
        ((1, 0, 1), [(5, 1), (2, 0)]),
        ((0, 1, 0, 1, 0), [(1, 0), (10, 1), (20, 0)]),
    ],
)
def test_lanes_that_read_the_store_of_a_cas_come_after_it(stores, expected):
    event = access(
        EventKind.ATOMIC, *(Lane(lane, 0, 1, 0, bool(each)) for lane, each in enumerate(stores)),
        op=AtomicOp.CAS, strong=True,
    )  # fmt: skip
    assert [(each.lanes, each.writes) for each in split_words(event, PARAMS)] == expected


@pytest.mark.parametrize(("second", "unequal"), [(5, 0), (6, 1)])
def test_store_of_two_values_to_one_address_is_marked(second, unequal):
    event = access(EventKind.STORE, Lane(0, 8, 5), Lane(1, 8, second), Lane(2, 12, 7))
    assert [made.unequal for made in split_words(event, PARAMS)] == [unequal, 0]


def test_values_of_a_named_store_are_free():
    event = access(
        EventKind.STORE, Lane(0, 8, 5), Lane(1, 8, 6), strong=True, order=MemoryOrder.RELAXED
    )
    assert [made.unequal for made in split_words(event, PARAMS)] == [0]


BEGIN, END = TransactionKind.BEGIN, TransactionKind.END


@pytest.mark.parametrize(
    ("kind", "order", "around"),
    [
        (EventKind.LOAD, MemoryOrder.RELAXED, []),
        (EventKind.LOAD, MemoryOrder.ACQUIRE, [END]),
        (EventKind.STORE, MemoryOrder.RELEASE, [BEGIN, END]),
        (EventKind.ATOMIC, MemoryOrder.IMPLIED, []),
        (EventKind.ATOMIC, MemoryOrder.ACQUIRE, [END]),
        (EventKind.ATOMIC, MemoryOrder.RELEASE, [BEGIN, END]),
        (EventKind.ATOMIC, MemoryOrder.ACQ_REL, [BEGIN, END]),
    ],
)
def test_begin_and_end_stand_around_operations_that_release_or_acquire(kind, order, around):
    event = access(kind, Lane(0, 8), strong=True, order=order, scope=Scope.DEVICE)
    made = split_words(event, PARAMS)
    places = [TransactionKind(int(kind))]
    if BEGIN in around:
        places.insert(0, BEGIN)
    if END in around:
        places.append(END)
    assert [each.kind for each in made] == places
    operation = made[BEGIN in around]
    acquires = order in (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
    assert (operation.acquire, operation.release) == (int(acquires), int(BEGIN in around))
    assert operation.device == 1


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (MemoryOrder.IMPLIED, FenceOrder.SC),
        (MemoryOrder.ACQUIRE, FenceOrder.ACQUIRE),
        (MemoryOrder.RELEASE, FenceOrder.RELEASE),
        (MemoryOrder.ACQ_REL, FenceOrder.ACQ_REL),
    ],
)
@pytest.mark.parametrize("scope", [Scope.BLOCK, Scope.DEVICE])
def test_fence_without_an_order_is_of_the_order_of_fences(order, expected, scope):
    (made,) = split_words(Event(EventKind.FENCE, order=order, scope=scope), PARAMS)
    assert (made.kind, made.order, made.device) == (TransactionKind.FENCE, expected, int(scope))


@pytest.mark.parametrize(("mask", "lanes"), [(0, ALL_LANES), (5, 5)])
def test_warp_barrier_without_a_mask_is_of_all_lanes(mask, lanes):
    (made,) = split_words(Event(EventKind.WARP_BARRIER, mask=mask), PARAMS)
    assert made.lanes == lanes


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_block_starts_with_its_warps(count):
    event = Event(EventKind.BLOCK_PLACED, 0, 1, 4 - count, warp_count=count)
    (made,) = split_words(event, PARAMS)
    assert made.warps == (1 << count) - 1 << 4 - count


def test_shared_memory_is_split_only_if_it_is_watched():
    event = access(EventKind.LOAD, Lane(0, 8), space=Space.SHARED)
    assert [made.shared for made in split_words(event, PARAMS)] == [1]
    unwatched = CausalityParams(
        sm_count=2, blocks_per_sm=2, warps_per_sm=4, address_bits=32, shared_bytes=0
    )
    assert split_words(event, unwatched) == []


@pytest.mark.parametrize(
    "place", [{"sm": 2}, {"slot": 2}, {"warp": 4}, {"lanes": (Lane(0, 1 << 32),)}]
)
def test_place_or_address_that_does_not_exist_is_refused(place):
    event = access(EventKind.LOAD, Lane(0, 8))._replace(**place)
    with pytest.raises(ValueError, match=r"must be|must fit in 32 bits"):
        split_words(event, PARAMS)
