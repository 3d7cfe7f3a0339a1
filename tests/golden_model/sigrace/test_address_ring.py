"""Address ring: which accesses it keeps, which it joins or leaves out, and when a block is gone."""

from __future__ import annotations

import random

import pytest

from racetrap.golden_model.sigrace.address_ring import RECENT, AddressRing, RingEntry
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams


def ring_of(*accesses: tuple[int, int, bool], depth: int = 16) -> AddressRing:
    """A ring with one block of accesses (address, bytes used, is_write)."""
    ring = AddressRing(depth, 4)
    for access in accesses:
        ring.record(*access)
    ring.end()
    return ring


def test_granules_of_a_word_join() -> None:
    ring = ring_of((0x1000, 0xF, True), (0x1004, 0x3, True), (0x1008, 0xF, True))
    assert ring.read(0) == [RingEntry(0x200, 0x3F, True), RingEntry(0x201, 0xF, True)]


def test_reads_and_writes_are_apart() -> None:
    ring = ring_of((0x1000, 0xF, False), (0x1004, 0xF, True), (0x1004, 0xF, False))
    # The last load reads what the block has written.
    assert ring.read(0) == [RingEntry(0x200, 0xF, False), RingEntry(0x200, 0xF0, True)]


def test_an_access_like_an_earlier_one_is_left_out() -> None:
    ring = ring_of((0, 0xF, False), (8, 0xF, True), (0, 0x1, False), (8, 0x3, True), (0, 1, True))
    assert ring.read(0) == [
        RingEntry(0, 0xF, False),
        RingEntry(1, 0xF, True),
        RingEntry(0, 1, True),
    ]


def test_it_remembers_only_so_many_words() -> None:
    again = (0, 0xF, False)
    near, far = (8 * (RECENT - 1), 0xF, False), (8 * RECENT, 0xF, False)
    assert len(ring_of(again, near, again).read(0) or ()) == 2
    assert len(ring_of(again, far, again).read(0) or ()) == 3


def test_a_new_block_begins_anew() -> None:
    ring = ring_of((0, 0xF, True))
    ring.record(0, 0xF, True)
    ring.end()
    assert ring.read(0) == ring.read(1) == [RingEntry(0, 0xF, True)]
    assert (ring.number, ring.written) == (2, 2)


def test_a_block_is_gone_with_its_first_entry() -> None:
    ring = ring_of((0, 0xF, True), (8, 0xF, True), depth=3)
    ring.record(16, 0xF, True)
    assert len(ring.read(0) or ()) == 2
    ring.record(24, 0xF, True)
    assert ring.read(0) is None


def test_a_block_is_gone_with_its_number() -> None:
    ring = AddressRing(64, 4)
    for number in range(5):
        ring.record(8 * number, 0xF, True)
        ring.end()
    assert ring.read(0) is None
    assert [entry.word for number in (1, 4) for entry in ring.read(number) or ()] == [1, 4]
    assert ring.read(5) is None


def test_a_block_larger_than_the_ring_is_gone_at_once() -> None:
    assert ring_of(*((8 * word, 0xF, True) for word in range(5)), depth=4).read(0) is None


def test_a_reset_drops_what_is_in_no_block() -> None:
    ring = AddressRing(16, 4)
    ring.record(0, 0xF, True)
    ring.drop()
    ring.record(0, 0x1, True)
    ring.end()
    assert ring.read(0) == [RingEntry(0, 0x1, True)]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_have_all_bytes_that_their_accesses_touch(seed: int) -> None:
    rng = random.Random(f"ring {seed}")
    ring = AddressRing(rng.choice([200, 1 << 16]), 64)
    for number in range(8):
        want: dict[tuple[int, bool], int] = {}
        for _ in range(rng.randrange(100)):
            address, used = (
                4 * rng.choice([rng.randrange(8), rng.randrange(600)]),
                rng.randint(1, 15),
            )
            is_write = rng.random() < 0.4
            ring.record(address, used, is_write)
            for byte in range(4):
                if used >> byte & 1:
                    want[address + byte, is_write] = 1
        ring.end()
        entries = ring.read(number)
        assert entries is not None
        have = {
            (8 * entry.word + byte, entry.is_write)
            for entry in entries for byte in range(8) if entry.bytes_used >> byte & 1
        }  # fmt: skip
        written = {byte for byte, is_write in have if is_write}
        assert have <= want.keys()
        # A byte that is only missing as read has been written.
        assert {byte for byte, is_write in want if is_write} == written
        assert {byte for byte, is_write in want if not is_write} <= {byte for byte, _ in have}


@pytest.mark.parametrize("form", ["sets", "hashed"])
def test_core_unit_records_what_it_collects(form: str) -> None:
    """Also where a set of USB values is full, which ends the block within an access."""
    ring = AddressRing(64, 256)
    unit = CoreUnit(SigraceParams(form=form, usb_limit=1), 0, 0, ring)  # type: ignore[arg-type]
    for event in (
        CoreEvent(CoreOp.STORE, 0x500, size=4),
        CoreEvent(CoreOp.COLLECT_ON),
        CoreEvent(CoreOp.STORE, 0x3FE, size=4),
        CoreEvent(CoreOp.LOAD, 0x3FC, size=1),
        CoreEvent(CoreOp.SYNC_REACHED),
        CoreEvent(CoreOp.SYNC_REACHED),
    ):
        unit.take(event)
    first, second = RingEntry(0x7F, 0xC0, True), RingEntry(0x80, 0x3, True)
    load = RingEntry(0x7F, 0x10, False)
    blocks = [ring.read(number) for number in range(ring.number)]
    assert blocks == ([[first], [second, load]] if form == "sets" else [[first, second, load]])
    assert ring.number == len(unit.blocks)


def test_addresses_wrap() -> None:
    ring = AddressRing(64, 256)
    unit = CoreUnit(SigraceParams(), 0, 0, ring)
    for event in (
        CoreEvent(CoreOp.COLLECT_ON),
        CoreEvent(CoreOp.STORE, 0xFFFF_FFFE, size=4),
        CoreEvent(CoreOp.RESET),
        CoreEvent(CoreOp.COLLECT_ON),
        CoreEvent(CoreOp.LOAD, 0xFFFF_FFFE, size=4),
        CoreEvent(CoreOp.SYNC_REACHED),
    ):
        unit.take(event)
    assert ring.read(0) == [RingEntry(0x1FFF_FFFF, 0xC0, False), RingEntry(0, 0x3, False)]
