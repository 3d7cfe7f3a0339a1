"""Timing of the bitmap; its contents are compared by the monitor's tests."""

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.bitmap import Bitmap
from racetrap.rtl.noncoherent.interval_cam import Command
from tests.support.rtl.streams import simulate

#: Eight words of 128 bytes.
_PARAMS = NoncoherentParams(
    mode="thesis", line_bytes=8, granule_bytes=4, address_bits=16, tag_bits=4, window_bytes=1024
)


async def _until_ready(ctx, dut):
    cycles = 0
    while not ctx.get(dut.o_ready):
        cycles += 1
        await ctx.tick()
    return cycles


async def _give(ctx, dut, first, end, *, query=0):
    ctx.set(dut.i_range.first, first)
    ctx.set(dut.i_range.end, end)
    ctx.set(dut.i_command, Command.NONE if query else Command.INSERT)
    ctx.set(dut.i_query, query)
    ctx.set(dut.i_valid, 1)
    await ctx.tick()
    ctx.set(dut.i_valid, 0)


def test_words_take_the_cycles_that_are_said():
    dut = Bitmap(_PARAMS)

    async def testbench(ctx):
        ctx.set(dut.i_execute, 1)
        # A cycle for each word, and three until the first is written and the last has been.
        assert await _until_ready(ctx, dut) == _PARAMS.words + 2
        for first, end, cycles in ((0, 128, 0), (130, 140, 0), (120, 130, 3), (64, 600, 6)):
            await _give(ctx, dut, first, end)
            await ctx.tick().repeat(3)
            assert await _until_ready(ctx, dut) == cycles

    simulate(dut, testbench)


def test_a_query_sees_what_is_put_in_one_and_two_cycles_before():
    dut = Bitmap(_PARAMS)

    async def testbench(ctx):
        await _until_ready(ctx, dut)
        ctx.set(dut.i_execute, 1)
        await _give(ctx, dut, 0, 4)
        await _give(ctx, dut, 8, 12)
        await _give(ctx, dut, 0, 4, query=1)
        await _give(ctx, dut, 4, 8, query=1)
        found = []
        for _ in range(6):
            found.append(ctx.get(dut.o_hit.found))
            await ctx.tick()
        # Two cycles after it takes effect, which is three after it was given.
        assert found == [0, 0, 0, 1, 0, 0]
        assert ctx.get(dut.o_ready)

    simulate(dut, testbench)
