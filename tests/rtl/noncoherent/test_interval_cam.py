"""Timing of the interval CAM; its contents are compared by the monitor's tests."""

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.interval_cam import Command, IntervalCam
from tests.support.rtl.streams import simulate


def _cam(entries):
    return IntervalCam(NoncoherentParams(entries=entries, address_bits=16, tag_bits=4))


@pytest.mark.parametrize("entries", [2, 3, 5])
def test_merge_for_want_of_room_takes_the_cycles_that_are_said(entries):
    dut = _cam(entries)

    async def testbench(ctx):
        ctx.set(dut.i_execute, 1)
        ctx.set(dut.i_command, Command.INSERT)
        ctx.set(dut.i_valid, 1)
        for number in range(entries):
            ctx.set(dut.i_range.first, 100 * number)
            ctx.set(dut.i_range.end, 100 * number + 4)
            await ctx.tick()
        ctx.set(dut.i_valid, 0)
        for _ in range(3):
            assert ctx.get(dut.o_ready)
            await ctx.tick()
        cycles = merged = 0
        while not ctx.get(dut.o_ready):
            merged += ctx.get(dut.o_compacted)
            cycles += 1
            await ctx.tick()
        assert (cycles, merged) == (entries * (entries + 1) + 9, 1)

    simulate(dut, testbench)


def test_a_hit_is_told_two_cycles_after_its_query_took_effect_and_once():
    dut = _cam(2)

    async def testbench(ctx):
        ctx.set(dut.i_execute, 1)
        ctx.set(dut.i_valid, 1)
        ctx.set(dut.i_range.first, 0)
        ctx.set(dut.i_range.end, 4)
        ctx.set(dut.i_origin.tag, 9)
        ctx.set(dut.i_command, Command.INSERT)
        await ctx.tick()
        # A query together with the removal of what it finds, which is just being put in.
        ctx.set(dut.i_command, Command.REMOVE)
        ctx.set(dut.i_query, 1)
        await ctx.tick()
        ctx.set(dut.i_valid, 0)
        found = []
        for _ in range(7):
            found.append((ctx.get(dut.o_hit.found), ctx.get(dut.o_hit.tag)))
            await ctx.tick()
        assert found == [(0, 0), (0, 0), (0, 0), (0, 0), (1, 9), (0, 0), (0, 0)]

    simulate(dut, testbench)


def test_what_does_not_take_effect_leaves_no_trace():
    dut = _cam(3)

    async def testbench(ctx):
        ctx.set(dut.i_range.end, 4)
        ctx.set(dut.i_command, Command.INSERT)
        ctx.set(dut.i_valid, 1)
        await ctx.tick()
        ctx.set(dut.i_valid, 0)
        await ctx.tick().repeat(4)
        assert ctx.get(dut.o_digest) == 0

    simulate(dut, testbench)
