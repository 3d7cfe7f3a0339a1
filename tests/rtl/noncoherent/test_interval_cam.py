"""Timing of the interval CAM; its contents are compared by the monitor's tests."""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.interval_cam import Command, IntervalCam
from tests.support.rtl.streams import simulate


@pytest.mark.parametrize("entries", [2, 3, 5])
def test_merge_for_want_of_room_takes_the_cycles_that_are_said(entries):
    dut = IntervalCam(NoncoherentParams(entries=entries, address_bits=16, tag_bits=4))

    async def testbench(ctx):
        ctx.set(dut.i_apply, 1)
        ctx.set(dut.i_command, Command.INSERT)
        for number in range(entries):
            assert ctx.get(dut.o_ready)
            ctx.set(dut.i_range.first, 100 * number)
            ctx.set(dut.i_range.end, 100 * number + 4)
            await ctx.tick()
        ctx.set(dut.i_apply, 0)
        ctx.set(dut.i_command, Command.NONE)
        cycles = merged = 0
        while not ctx.get(dut.o_ready):
            merged += ctx.get(dut.o_compacted)
            cycles += 1
            await ctx.tick()
        assert (cycles, merged) == (entries * (entries + 1) + 4, 1)

    simulate(dut, testbench)


def test_a_hit_is_told_in_the_next_cycle_and_once():
    dut = IntervalCam(NoncoherentParams(entries=2, address_bits=16, tag_bits=4))

    async def testbench(ctx):
        ctx.set(dut.i_apply, 1)
        ctx.set(dut.i_range.first, 0)
        ctx.set(dut.i_range.end, 4)
        ctx.set(dut.i_origin.tag, 9)
        ctx.set(dut.i_command, Command.INSERT)
        await ctx.tick()
        # A query together with the removal of what it finds.
        ctx.set(dut.i_command, Command.REMOVE)
        ctx.set(dut.i_query, 1)
        assert not ctx.get(dut.o_hit.found)
        await ctx.tick()
        ctx.set(dut.i_command, Command.NONE)
        assert (ctx.get(dut.o_hit.found), ctx.get(dut.o_hit.tag)) == (1, 9)
        await ctx.tick()
        assert not ctx.get(dut.o_hit.found)

    simulate(dut, testbench)
