"""Queues of the input channels: whole records out of bytes, and credit."""

from __future__ import annotations

import random

import pytest

from racetrap.rtl.link.input_queue import InputQueue
from tests.support.planted_bugs import module_with
from tests.support.rtl import streams


def _play_records(queue_type, bits, depth):
    """Records in and out; gives how often one came while another went, in the same cycle."""
    rng = random.Random(f"{bits} {depth}")
    dut = queue_type(bits, depth)
    size = -(-bits // 8)
    together = 0

    async def credit(ctx):
        nonlocal together
        taken = given = 0
        while True:
            *_, byte, record, left = await ctx.tick().sample(
                dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready, dut.o_credits
            )
            assert left == depth - taken // size + given
            taken, given = taken + byte, given + record
            together += bool(record and byte and taken % size == 0)

    records, got = [rng.getrandbits(8 * size) for _ in range(20)], []

    async def user(ctx):
        for record in records:
            while ctx.get(dut.o_credits) == 0:
                await ctx.tick()
            for byte in record.to_bytes(size, "little"):
                # With credit a byte waits for no user; the smallest queues have no full rate.
                for _ in range(3):
                    if not ctx.get(dut.i.ready):
                        assert size * depth <= 2
                        await ctx.tick()
                assert ctx.get(dut.i.ready)
                await streams.put(ctx, dut.i, byte)

    idle = streams.random_idle(bits, longest=20)
    takes = streams.get_all(dut.o, len(records), got, idle=idle)
    streams.simulate(dut, user, takes, background=[credit])
    assert got == [record & (1 << bits) - 1 for record in records]
    return together


@pytest.mark.parametrize(("bits", "depth"), [(1, 1), (7, 3), (8, 2), (9, 1), (33, 4)])
def test_records_and_credit(bits, depth):
    _play_records(InputQueue, bits, depth)


def test_lost_credit_is_found():
    """Where a record comes in the cycle in which another goes."""
    assert _play_records(InputQueue, 7, 6) > 0
    bug = ("- is_record_in + is_record_out", "- is_record_in + (is_record_out & ~is_record_in)")
    with pytest.raises(AssertionError):
        _play_records(module_with("link/input_queue.py", bug).InputQueue, 7, 6)


def test_credit_of_a_full_queue():
    dut = InputQueue(16, 3)

    async def user(ctx):
        for left in (2, 1, 0):
            for _ in range(2):
                await streams.put(ctx, dut.i, 0xAA)
            assert ctx.get(dut.o_credits) == left
        for _ in range(10):
            await ctx.tick()
        assert ctx.get(dut.o_credits) == 0
        await streams.get(ctx, dut.o)
        assert ctx.get(dut.o_credits) == 1

    streams.simulate(dut, user)


def test_depth_is_checked():
    with pytest.raises(ValueError, match="Input queue depth must be from 1 to 255, not 0"):
        InputQueue(8, 0)
