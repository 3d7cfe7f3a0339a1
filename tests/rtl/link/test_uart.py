"""UART: both directions back to back, and bad bits."""

from __future__ import annotations

import random

import pytest

from racetrap.rtl.link.uart import Uart
from tests.support.rtl import streams

_MARGIN = 4


def _levels(byte: int, stop: int = 1) -> list[int]:
    return [0, *(byte >> bit & 1 for bit in range(8)), stop]


def _drive(line, levels, divisor):
    async def testbench(ctx):
        for level in levels:
            ctx.set(line, level)
            for _ in range(divisor):
                await ctx.tick()
        for _ in range(_MARGIN):
            await ctx.tick()

    return testbench


def _take(stream, into):
    async def testbench(ctx):
        while True:
            *_, valid, byte = await ctx.tick().sample(stream.valid, stream.payload)
            if valid:
                into.append(byte)

    return testbench


@pytest.mark.parametrize("divisor", [8, 9, 21])
def test_what_is_sent_is_received(divisor):
    rng = random.Random(divisor)
    sent, got = [0x00, 0xFF, 0x55, *rng.randbytes(20)], []
    dut = Uart(divisor)

    async def loop(ctx):
        async for _, _, level in ctx.tick().sample(dut.o_tx):
            ctx.set(dut.i_rx, level)

    async def wait(ctx):
        while len(got) < len(sent):
            await ctx.tick()

    streams.simulate(dut, streams.put_all(dut.i, sent), wait, background=[loop, _take(dut.o, got)])
    assert got == sent


@pytest.mark.parametrize("divisor", [8, 9])
def test_a_byte_without_a_stop_bit_a_break_and_a_spike(divisor):
    dut, got = Uart(divisor), []
    pause = [1] * 12
    levels = [
        *_levels(0x41), *_levels(0x42, stop=0), *pause, *_levels(0x43), *[0] * 30, *pause,
        *_levels(0x44), *_levels(0x45),
    ]  # fmt: skip

    async def spike(ctx):
        for level, cycles in ((0, 2), (1, 3 * divisor)):
            ctx.set(dut.i_rx, level)
            for _ in range(cycles):
                await ctx.tick()
        await _drive(dut.i_rx, levels, divisor)(ctx)

    streams.simulate(dut, spike, background=[_take(dut.o, got)])
    # What a break leaves is no more than a byte that is wrong.
    assert (got[:2], got[-2:]) == ([0x41, 0x43], [0x44, 0x45])
    assert len(got) <= 5


def test_divisor_is_checked():
    with pytest.raises(ValueError, match="UART divisor must be from 8 to 65536, not 7"):
        Uart(7)
    with pytest.raises(TypeError, match="UART divisor must be an integer, not '8'"):
        Uart("8")
