"""UART receiver and transmitter, back to back and with bad bits."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module

from racetrap.rtl.link.uart import UartReceiver, UartTransmitter
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


def _count(signal, into):
    async def testbench(ctx):
        while True:
            *_, value = await ctx.tick().sample(signal)
            into.append(value)

    return testbench


@pytest.mark.parametrize("divisor", [8, 9, 21])
def test_what_is_sent_is_received(divisor):
    rng = random.Random(divisor)
    sent, got = [0x00, 0xFF, 0x55, *rng.randbytes(20)], []
    m = Module()
    m.submodules.transmitter = transmitter = UartTransmitter(divisor)
    m.submodules.receiver = receiver = UartReceiver(divisor)
    m.d.comb += receiver.i_rx.eq(transmitter.o_tx)
    streams.simulate(
        m, streams.put_all(transmitter.i, sent), streams.get_all(receiver.o, len(sent), got)
    )
    assert got == sent


@pytest.mark.parametrize("divisor", [8, 9])
def test_framing_error_break_and_spike(divisor):
    dut = UartReceiver(divisor)
    spike = [1, 1]
    levels = [
        *_levels(0x41), *_levels(0x42, stop=0), *spike, *_levels(0x43), *[0] * 30, 1,
        *_levels(0x44), *_levels(0x45),
    ]  # fmt: skip
    got, framing = [], []
    streams.simulate(
        dut, _drive(dut.i_rx, levels, divisor),
        background=[streams.get_forever(dut.o, got), _count(dut.o_framing, framing)],
    )  # fmt: skip
    # The ninth bit says that a byte before was damaged.
    assert got == [0x41, 0x143, 0x144, 0x45]
    assert sum(framing) == 2


def test_overrun_keeps_the_byte_that_waits():
    dut = UartReceiver(8)
    got, overrun = [], []

    async def late(ctx):
        for _ in range(8 * 32):
            await ctx.tick()
        for _ in range(2):
            got.append(await streams.get(ctx, dut.o))

    levels = [level for byte in (1, 2, 3, 4) for level in _levels(byte)]
    streams.simulate(
        dut, _drive(dut.i_rx, levels, 8), late, background=[_count(dut.o_overrun, overrun)]
    )
    assert got == [1, 0x104]
    assert sum(overrun) == 2


@pytest.mark.parametrize("component", [UartReceiver, UartTransmitter])
def test_divisor_is_checked(component):
    with pytest.raises(ValueError, match="UART divisor must be at least 8, not 7"):
        component(7)
    with pytest.raises(TypeError, match="UART divisor must be an integer, not '8'"):
        component("8")
