"""Bit scanner: all positions, ascending, one a cycle."""

import random

import pytest

from racetrap.rtl.sigrace.bit_scanner import BitScanner
from tests.support.rtl.streams import get_forever, monitor, pulse, random_idle, simulate


def scan(bits, vectors, seed=None, cut=None):
    """(cycle, position, last) of each position, by vector; each begins when the last is out."""
    dut, left, results = BitScanner(bits), [], []

    async def testbench(ctx):
        for vector in vectors:
            left.clear()
            ctx.set(dut.i_bits, vector)
            await pulse(ctx, dut.i_start)
            while len(left) < (vector.bit_count() if cut is None else cut):
                await ctx.tick()
            layout = dut.o.payload.shape()
            items = [(cycle, layout.from_bits(word)) for cycle, word in left]
            results.append([(cycle, item.position, item.last) for cycle, item in items])

    pause = {"idle": random_idle(seed)} if seed is not None else {}
    simulate(dut, testbench, background=[get_forever(dut.o, [], **pause), monitor(dut.o, left)])
    return results


def vectors_of(bits, rng):
    """The ends, single words, and noise of different density."""
    return [
        1, 1 << bits - 1, (1 << bits) - 1, rng.getrandbits(bits) | 1,
        rng.getrandbits(bits) & rng.getrandbits(bits) & rng.getrandbits(bits) | 1 << bits // 2,
        (1 << bits) - (1 << bits // 2),
    ]  # fmt: skip


@pytest.mark.parametrize("bits", [2, 4, 16, 32, 64, 256, 1024])
@pytest.mark.parametrize("seed", [None, 1])
def test_positions(bits, seed):
    vectors = vectors_of(bits, random.Random(bits))
    for vector, result in zip(vectors, scan(bits, vectors, seed), strict=True):
        expected = [number for number in range(bits) if vector >> number & 1]
        assert [position for _, position, _ in result] == expected
        assert [last for *_, last in result] == [0] * (len(expected) - 1) + [1]
        cycles = [cycle for cycle, *_ in result]
        assert seed or cycles == list(range(cycles[0], cycles[0] + len(expected)))


def test_start_anew_in_the_middle():
    """What was under way goes on until the start, and no further."""
    every, few = (1 << 64) - 1, 0b1010
    positions = [position for _, position, _ in scan(64, [every, few], cut=4)[1]]
    assert positions == [4, 5, 1, 3]


@pytest.mark.parametrize("bits", [0, 1, 3, 48])
def test_width_must_be_a_power_of_two(bits):
    message = rf"^Bit scanner width must be a power of two from 2 on, not {bits}$"
    with pytest.raises(ValueError, match=message):
        BitScanner(bits)
