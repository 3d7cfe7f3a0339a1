"""Wrap control: nothing is sent from before the last thing is done until all have begun anew."""

import random

import pytest

from racetrap.rtl.causality.wrap_control import WrapControl
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.streams import simulate


def _run(dut, seed):
    """Drain and clear for random times; number of epochs."""
    rng, epochs = random.Random(seed), 0

    async def testbench(ctx):
        nonlocal epochs
        for _ in range(20):
            for _ in range(rng.randrange(4)):
                assert not ctx.get(dut.o_hold)
                await ctx.tick()
            ctx.set(dut.i_wrap, 1)
            assert not ctx.get(dut.o_epoch)
            await ctx.tick()
            for left in range(rng.randrange(6), -1, -1):
                ctx.set(dut.i_drained, left == 0)
                assert (ctx.get(dut.o_hold), ctx.get(dut.o_epoch)) == (1, 0)
                await ctx.tick()
            assert (ctx.get(dut.o_hold), ctx.get(dut.o_epoch)) == (1, 1)
            epochs += 1
            await ctx.tick()
            ctx.set(dut.i_drained, 0)
            # A tracker that waits no longer, and one that is told late.
            ctx.set(dut.i_wrap, 0)
            assert (ctx.get(dut.o_hold), ctx.get(dut.o_epoch)) == (1, 0)
            await ctx.tick()
            for left in range(rng.randrange(6), -1, -1):
                ctx.set(dut.i_busy, left > 0)
                assert (ctx.get(dut.o_hold), ctx.get(dut.o_epoch)) == (1, 0)
                await ctx.tick()

    simulate(dut, testbench, cycles=2000)
    return epochs


def test_an_epoch_begins_between_draining_and_clearing():
    assert _run(WrapControl(), "wraps") == 20


_FILE = "causality/wrap_control.py"
_BUGS = {
    "does-not-drain": Patch(_FILE, "with m.If(self.i_drained):", "with m.If(1):"),
    "lets-go-while-parts-clear": Patch(_FILE, "with m.If(~self.i_busy):", "with m.If(1):"),
    "does-not-wait-until-parts-are-busy": Patch(
        _FILE, "self.o_epoch.eq(1) m.next = 'START'",
        "self.o_epoch.eq(1)\n                m.next = 'WAIT'",
    ),
    "does-not-hold": Patch(_FILE, "m.d.comb += self.o_hold.eq(1)", "m.d.comb += self.o_hold.eq(0)"),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    dut = modules_with([_FILE], _BUGS[bug])[_FILE].WrapControl()
    with pytest.raises((AssertionError, TimeoutError)):
        _run(dut, "wraps")
