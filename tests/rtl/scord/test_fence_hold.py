"""Fence hold: warps whose fence is on its way, and the blocks that they are of."""

import random

import pytest

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.fence_hold import FenceHold
from tests.support.rtl.streams import simulate


@pytest.mark.parametrize("warps", [1, 3, 4, 5, 64])
def test_random_fences(warps):
    params = ScordParams(warps_per_sm=warps, blocks_per_sm=3)
    dut, rng = FenceHold(params), random.Random(warps)
    on_their_way = {}

    async def testbench(ctx):
        for cycle in range(400):
            warp, slot = rng.randrange(warps), rng.randrange(3)
            starts = warp not in on_their_way and rng.random() < 0.6
            done = {each for each in on_their_way if rng.random() < 0.2}
            ctx.set(dut.i_warp, warp)
            ctx.set(dut.i_slot, slot)
            ctx.set(dut.i_start, starts)
            ctx.set(dut.i_fenced, sum(1 << each for each in done))
            seen = ctx.get(dut.o_fencing), ctx.get(dut.o_warp_waits), ctx.get(dut.o_block_waits)
            mask = sum(1 << each for each in on_their_way)
            assert seen == (mask, warp in on_their_way, slot in on_their_way.values()), cycle
            await ctx.tick()
            for each in done:
                del on_their_way[each]
            if starts:
                on_their_way[warp] = slot

    simulate(dut, testbench)
