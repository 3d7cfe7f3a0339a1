"""Comparisons: by a carry chain, and with constants."""

import pytest
from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.sim import Simulator

from racetrap.rtl.common.bits import is_between, is_less


@pytest.mark.parametrize("widths", [(3, 3), (2, 4), (4, 2)])
def test_less_is_less(widths):
    m = Module()
    one, other = (Signal(width, name=f"value_{number}") for number, width in enumerate(widths))
    found = Signal()
    m.d.comb += found.eq(is_less(one, other))

    async def testbench(ctx):
        for left in range(1 << widths[0]):
            for right in range(1 << widths[1]):
                ctx.set(one, left)
                ctx.set(other, right)
                await ctx.delay(1e-9)
                assert ctx.get(found) == (left < right)

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("low", range(8))
def test_between_is_between(low):
    m = Module()
    value, found = Signal(3), Signal(8)
    m.d.comb += found.eq(Cat(is_between(value, low, high) for high in range(8)))

    async def testbench(ctx):
        for number in range(8):
            ctx.set(value, number)
            await ctx.delay(1e-9)
            assert ctx.get(found) == sum((low <= number <= high) << high for high in range(8))

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()


def test_what_always_holds_is_not_compared():
    value = Signal(3)
    assert isinstance(is_between(value, 0, 7), Const)
    assert repr(is_between(value, 0, 6)) == repr(Const(1, 1) & (value <= 6))
