"""Comparison by a carry chain."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from racetrap.rtl.common.bits import is_less


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
