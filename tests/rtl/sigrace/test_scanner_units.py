"""Comparator, intersection unit and queues, each against the golden model."""

from dataclasses import replace
from random import Random

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.sigrace.history_queue import HistoryQueue
from racetrap.golden_model.sigrace.packets import Relation
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.sigrace.timestamp import relation
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.intersection import Intersection
from racetrap.rtl.sigrace.timestamp_comparator import TimestampComparator
from tests.support.rtl.streams import pulse, put, simulate
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.messages import random_set


def packed(params: SigraceParams, timestamp) -> int:
    return sum(value << k * params.timestamp_bits for k, value in enumerate(timestamp))


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 5])
def test_comparator(threads):
    params = replace(SMALL, threads=threads, timestamp_bits=2)
    dut = TimestampComparator(params)
    rng = Random(f"comparator {threads}")
    seen = set()

    async def testbench(ctx):
        for _ in range(200):
            entry, message = ([rng.randrange(4) for _ in range(threads)] for _ in range(2))
            thread, other = rng.randrange(threads), rng.randrange(threads)
            ctx.set(dut.i_entry, packed(params, entry))
            ctx.set(dut.i_message, packed(params, message))
            ctx.set(dut.i_thread, thread)
            ctx.set(dut.i_other, other)
            await ctx.tick()
            expected = relation(tuple(entry), other, tuple(message), thread)
            assert ctx.get(dut.o_relation) == expected
            seen.add(expected)

    simulate(dut, testbench)
    assert seen == set(Relation)


@pytest.mark.parametrize("one_hot", [False, True])
def test_intersection(one_hot):
    params = replace(SMALL, form=Form.HASHED, one_hot_lsb=one_hot, lsb_bits=6, filter_bits=16)
    dut = Intersection(params)
    hashing = signature_hash(params)
    rng = Random(f"intersection {one_hot}")
    seen = set()

    async def testbench(ctx):
        for _ in range(300):
            message, entry = (
                {name: random_set(params, rng, rng.randrange(6)) for name in ("read", "write")}
                for _ in range(2)
            )
            for port, block in ((dut.i_message, message), (dut.i_entry, entry)):
                word = params.history_layout.pack(block | {"timestamp": 0})
                ctx.set(Value.cast(port), word)
            await ctx.tick()
            pairs = (("read", "write"), ("write", "read"), ("write", "write"))
            expected = sum(
                (not hashing.is_null(message[mine] & entry[theirs])) << bit
                for bit, (mine, theirs) in enumerate(pairs)
            )
            assert ctx.get(dut.o_conflict) == expected
            seen.add(expected)

    simulate(dut, testbench)
    assert len(seen) > 3


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 7, 8, 9])
def test_queues(depth):
    params = replace(SMALL, threads=3, history_depth=depth)
    dut = HistoryQueues(params, params.threads)
    width = params.history_layout.width
    rng = Random(f"queues {depth}")
    golden = [HistoryQueue(params) for _ in range(3)]
    was_full = []

    async def compare(ctx, thread):
        ctx.set(dut.i_queue, thread)
        entries = list(golden[thread].entries)
        assert ctx.get(dut.o_count) == len(entries)
        await pulse(ctx, dut.i_open)
        for age, entry in enumerate(entries):
            ctx.set(dut.i_position, age)
            await ctx.tick()
            assert ctx.get(Value.cast(dut.o_entry)) == entry

    async def testbench(ctx):
        for _ in range(6 * depth + 10):
            thread, entry = rng.randrange(3), rng.getrandbits(width)
            ctx.set(dut.i_queue, thread)
            await put(ctx, dut.i_push, entry)
            golden[thread].push(entry)
            was_full.append(golden[thread].is_full)
            await compare(ctx, rng.randrange(3))
            if rng.random() < 0.03:
                await pulse(ctx, dut.i_flush)
                for queue in golden:
                    queue.clear()
        for thread in range(3):
            await compare(ctx, thread)

    simulate(dut, testbench)
    assert True in was_full
