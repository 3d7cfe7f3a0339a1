"""Coalescer: lines, words and lock words of a warp instruction."""

import re

import pytest

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, MemoryOrder, Scope, Space
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.scord.knobs import Knobs
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from tests.support import REPOSITORY

PARAMS = ScordParams()
E = EventKind


def access(kind, size, lanes, **fields):
    return Event(kind, 2, 1, 5, pc=0x40, size=size, lanes=tuple(lanes), **fields)


def masks(event):
    return {t.line: t.mask for t in coalesce(event, PARAMS)}


def test_full_warp_takes_one_line():
    lanes = [Lane(lane, 0x1000 + 4 * lane) for lane in range(32)]
    (transaction,) = coalesce(access(E.LOAD, 4, lanes, strong=True), PARAMS)
    assert transaction == Transaction(
        TransactionKind.LOAD, 0, 1, 0, 1, 5, 0x40, 0x1000 >> 7, 0xFFFF_FFFF, 0
    )


def test_lines_in_ascending_order():
    lanes = [Lane(0, 0x1080), Lane(1, 0x100), Lane(2, 0x1000)]
    lines = [t.line for t in coalesce(access(E.STORE, 4, lanes), PARAMS)]
    assert lines == [0x2, 0x20, 0x21]


@pytest.mark.parametrize(("size", "mask"), [(1, 0b1), (2, 0b1), (4, 0b1), (8, 0b11), (16, 0b1111)])
def test_words_of_each_size(size, mask):
    assert masks(access(E.LOAD, size, [Lane(3, 0x1000)])) == {0x20: mask}


def test_bytes_of_one_word_are_checked_once():
    lanes = [Lane(lane, 0x1004 + lane) for lane in range(4)]
    assert masks(access(E.STORE, 1, lanes)) == {0x20: 0b10}


def atomic(op, *lanes, size=4):
    return access(E.ATOMIC, size, lanes, op=op, strong=True, scope=Scope.DEVICE)


@pytest.mark.parametrize(
    ("lane", "is_lock"),
    [
        (Lane(0, 0x1000, 1, 0, True), True),
        (Lane(0, 0x1000, 1, 0, False), False),
        (Lane(0, 0x1000, 2, 0, True), False),
        (Lane(0, 0x1000, 1, 1, True), False),
        (Lane(0, 0x1000, 0, 1, True), False),
    ],
)
def test_cas_that_takes_a_lock(lane, is_lock):
    (transaction,) = coalesce(atomic(AtomicOp.CAS, lane), PARAMS)
    assert transaction.lock_mask == is_lock
    assert (transaction.scope, transaction.strong) == (Scope.DEVICE, 1)


@pytest.mark.parametrize("value", [0, 1])
def test_exch_that_frees_a_lock(value):
    (transaction,) = coalesce(atomic(AtomicOp.EXCH, Lane(0, 0x1000, value)), PARAMS)
    assert transaction.lock_mask == (value == 0)


@pytest.mark.parametrize("value", [0, 1])
def test_a_release_store_counts_as_an_exchange(value):
    store = Event(
        E.STORE, 2, 1, 5, Scope.DEVICE, True, pc=0x40, size=4, lanes=(Lane(0, 0x1000, value),),
        order=MemoryOrder.RELEASE,
    )  # fmt: skip
    (transaction,) = coalesce(store, PARAMS)
    assert (transaction.kind, transaction.op) == (E.ATOMIC, AtomicOp.EXCH)
    assert (transaction.scope, transaction.lock_mask) == (Scope.DEVICE, value == 0)
    for order in (MemoryOrder.IMPLIED, MemoryOrder.RELAXED):
        (transaction,) = coalesce(store._replace(order=order), PARAMS)
        assert (transaction.kind, transaction.lock_mask) == (E.STORE, 0)


def test_other_atomics_are_no_locks():
    (transaction,) = coalesce(atomic(AtomicOp.OTHER, Lane(0, 0x1000)), PARAMS)
    assert (transaction.mask, transaction.lock_mask) == (1, 0)


def test_lock_of_a_64_bit_atomic_is_its_first_word():
    (transaction,) = coalesce(atomic(AtomicOp.EXCH, Lane(0, 0x1008), size=8), PARAMS)
    assert (transaction.mask, transaction.lock_mask) == (0b1100, 0b0100)


def test_one_lane_that_takes_the_lock_is_enough():
    lanes = [Lane(lane, 0x1000, 1, 0, lane == 7) for lane in range(32)]
    (transaction,) = coalesce(atomic(AtomicOp.CAS, *lanes), PARAMS)
    assert transaction.lock_mask == 1


def test_fence_barrier_and_block():
    fence = Event(E.FENCE, 2, 1, 5, Scope.DEVICE, pc=0x48)
    barrier = Event(E.BARRIER, 2, 1, pc=0x50)
    placed = Event(E.BLOCK_PLACED, 2, 1, 8, warp_count=4, grid_block=77)
    assert [coalesce(event, PARAMS) for event in (fence, barrier, placed)] == [
        [Transaction(TransactionKind.FENCE, scope=1, slot=1, warp=5)],
        [Transaction(TransactionKind.BARRIER, slot=1)],
        [Transaction(TransactionKind.BLOCK_START, slot=1, mask=0xF00)],
    ]


def test_fields_of_each_kind_are_those_of_the_wiring_page():
    """Whatever the event, all other fields are 0; each that is listed is used somewhere."""
    text = (REPOSITORY / "docs" / "integration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z_`, ]+)` \| (`.*`) \|", text, re.MULTILINE)
    listed = {
        TransactionKind[kind]: set(re.findall(r"`(\w+)`", fields))
        for kinds, fields in rows for kind in re.findall(r"\w+", kinds)
    }  # fmt: skip
    assert listed.keys() == set(TransactionKind)
    used = {kind: set() for kind in TransactionKind}
    params = ScordParams(warps_per_sm=64)
    events = random_events(params, Region(0x10000, 16), Knobs(), 1, 2000)
    on_high_warps = Event(E.BLOCK_PLACED, 2, 1, 30, warp_count=5, grid_block=7)
    for _, transaction in transactions_of([*events, on_high_warps], params):
        fields = transaction._asdict()
        del fields["kind"]
        used[transaction.kind] |= {name for name, value in fields.items() if value}
    assert used == listed


def test_block_on_warps_beyond_the_words_of_a_line():
    params = ScordParams(warps_per_sm=64)
    placed = Event(E.BLOCK_PLACED, 2, 1, 30, warp_count=5, grid_block=7)
    (start,) = coalesce(placed, params)
    assert (start.mask, start.lock_mask, start.warps) == (3 << 30, 7, 0x1F << 30)


def test_scope_of_a_strong_access_is_not_for_the_detector():
    lanes = [Lane(3, 0x1000)]
    plain, scoped = (
        coalesce(access(E.LOAD, 4, lanes, strong=True, scope=scope), PARAMS) for scope in Scope
    )
    assert plain == scoped


@pytest.mark.parametrize("kind", [E.LOAD, E.STORE, E.ATOMIC])
def test_shared_memory_is_not_seen(kind):
    assert coalesce(access(kind, 4, [Lane(3, 0x1000)], space=Space.SHARED), PARAMS) == []


@pytest.mark.parametrize("kind", [kind for kind in E if kind > E.BLOCK_PLACED])
def test_events_that_no_tracker_sees(kind):
    assert coalesce(Event(kind), PARAMS) == []


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Event(E.FENCE, sm=15), "SM must be from 0 to 14, not 15"),
        (Event(E.FENCE, slot=8), "Block slot must be from 0 to 7, not 8"),
        (Event(E.FENCE, warp=32), "Warp slot must be from 0 to 31, not 32"),
        (Event(E.BLOCK_PLACED, warp=30, warp_count=3), "Warp slot must be .*, not 32"),
        (Event(E.FENCE, pc=1 << 32), "PC must fit in 32 bits, not 0x100000000"),
        (
            Event(E.LOAD, size=4, lanes=(Lane(0, 1 << 40),)),
            "Address must fit in 40 bits, not 0x10000000000",
        ),
    ],
)
def test_event_that_does_not_fit(event, message):
    with pytest.raises(ValueError, match=message):
        coalesce(event, PARAMS)
