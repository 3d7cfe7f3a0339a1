"""Queues of the input channels: whole records out of bytes, and room."""

from __future__ import annotations

import random

import pytest

from racetrap.rtl.link.input_queue import InputQueue
from tests.support.planted_bugs import module_with
from tests.support.rtl import streams


def _play_records(queue_type, size, depth):
    """Records in and out; gives how often one went in the cycle in which a byte came."""
    rng = random.Random(f"{size} {depth}")
    dut = queue_type(size, size * depth)
    together = 0

    async def room(ctx):
        nonlocal together
        taken = given = 0
        while True:
            *_, byte, record, left = await ctx.tick().sample(
                dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready, dut.o_room
            )
            assert left == size * (depth + given) - taken
            taken, given = taken + byte, given + record
            together += bool(record and byte)

    records, got = [rng.getrandbits(8 * size) for _ in range(20)], []

    async def user(ctx):
        for record in records:
            while ctx.get(dut.o_room) < size:
                await ctx.tick()
            for byte in record.to_bytes(size, "little"):
                # With room a byte waits for no user; the smallest queues have no full rate.
                for _ in range(3):
                    if not ctx.get(dut.i.ready):
                        assert size * depth <= 2
                        await ctx.tick()
                assert ctx.get(dut.i.ready)
                await streams.put(ctx, dut.i, byte)

    idle = streams.random_idle(size, longest=20)
    takes = streams.get_all(dut.o, len(records), got, idle=idle)
    streams.simulate(dut, user, takes, background=[room])
    assert got == records
    return together


@pytest.mark.parametrize(("size", "depth"), [(1, 1), (1, 3), (1, 2), (2, 1), (5, 4)])
def test_records_and_room(size, depth):
    _play_records(InputQueue, size, depth)


def test_lost_room_is_found():
    """Where a byte comes in the cycle in which a record goes."""
    assert _play_records(InputQueue, 1, 6) > 0
    bug = ("Mux(is_out, self._size, 0)", "Mux(is_out & ~is_in, self._size, 0)")
    with pytest.raises(AssertionError):
        _play_records(module_with("link/input_queue.py", bug).InputQueue, 1, 6)


def test_a_full_queue_has_no_room():
    dut = InputQueue(2, 6)

    async def user(ctx):
        for left in (5, 4, 3, 2, 1, 0):
            await streams.put(ctx, dut.i, 0xAA)
            assert ctx.get(dut.o_room) == left
        for _ in range(10):
            await ctx.tick()
        assert ctx.get(dut.o_room) == 0
        await streams.get(ctx, dut.o)
        assert ctx.get(dut.o_room) == 2

    streams.simulate(dut, user)
