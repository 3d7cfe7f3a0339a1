"""Timestamps: writes by index, saturating increment, sticky flag."""

import random
from dataclasses import replace

import pytest

from racetrap.rtl.sigrace.timestamp import CounterFile, Timestamp
from tests.support.rtl.streams import simulate
from tests.support.sigrace.configurations import SMALL

SIZES = [(1, 2), (2, 32), (3, 6), (8, 20), (127, 2), (128, 3)]


def packed(counters, bits):
    return sum(counter << number * bits for number, counter in enumerate(counters))


def random_index(rng, threads):
    """An index that often is out of range, also just so."""
    return rng.choice([rng.randrange(threads), threads - 1, threads, rng.getrandbits(12)])


@pytest.mark.parametrize(("threads", "bits"), SIZES)
def test_random_changes(threads, bits):
    params = replace(SMALL, threads=threads, timestamp_bits=bits)
    dut, rng = Timestamp(params), random.Random(threads * 100 + bits)

    async def testbench(ctx):
        counters, saturated = [0] * threads, 0
        for _ in range(200):
            action = rng.choices(["write", "increment", "clear", ""], [6, 6, 1, 1])[0]
            index, thread = random_index(rng, threads), rng.randrange(threads)
            data = rng.choice([rng.getrandbits(32), params.max_counter - 1, params.max_counter])
            ctx.set(dut.i_index, index)
            ctx.set(dut.i_data, data)
            ctx.set(dut.i_thread, thread)
            for name in ("write", "increment", "clear"):
                ctx.set(getattr(dut, f"i_{name}"), name == action)
            await ctx.tick()
            if action == "clear":
                counters, saturated = [0] * threads, 0
            elif action == "increment":
                counters[thread] = min(counters[thread] + 1, params.max_counter)
                saturated |= counters[thread] == params.max_counter
            elif action == "write" and index < threads:
                counters[index] = data & params.max_counter
                saturated |= counters[index] == params.max_counter
            assert ctx.get(dut.o_timestamp) == packed(counters, bits)
            assert ctx.get(dut.o_own) == counters[thread]
            assert ctx.get(dut.o_saturated) == saturated

    simulate(dut, testbench)


@pytest.mark.parametrize(("threads", "bits"), SIZES)
def test_counter_file(threads, bits):
    params = replace(SMALL, threads=threads, timestamp_bits=bits)
    dut, rng = CounterFile(params), random.Random(threads * 100 + bits)

    async def testbench(ctx):
        counters = [0] * threads
        for _ in range(100):
            writes, clears = rng.random() < 0.8, rng.random() < 0.05
            index, data = random_index(rng, threads), rng.getrandbits(bits)
            ctx.set(dut.i_write, writes)
            ctx.set(dut.i_clear, clears)
            ctx.set(dut.i_index, index)
            ctx.set(dut.i_data, data)
            await ctx.tick()
            if writes and index < threads:
                counters[index] = data
            if clears:
                counters = [0] * threads
            assert ctx.get(dut.o_timestamp) == packed(counters, bits)

    simulate(dut, testbench)
