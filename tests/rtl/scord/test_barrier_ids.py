"""Barrier ids and generations against the golden counters."""

import random

import pytest

from racetrap.golden_model.scord import barrier_ids as golden
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.barrier_ids import BarrierIds, Generations
from tests.support.rtl.streams import simulate

_COUNTERS = {
    "barrier_id": (BarrierIds, golden.BarrierIds),
    "generation": (Generations, golden.Generations),
}


@pytest.mark.parametrize("name", _COUNTERS)
@pytest.mark.parametrize("blocks", [1, 3, 4, 5, 8])
def test_random_increments_and_clears(blocks, name):
    rng = random.Random(blocks)
    params = ScordParams(blocks_per_sm=blocks, barrier_id_bits=2, slot_generation_bits=2)
    dut, model = (make(params) for make in _COUNTERS[name])
    seen = set()

    async def testbench(ctx):
        for _ in range(400):
            slot, increment, clear = rng.randrange(blocks), rng.random() < 0.7, rng.random() < 0.02
            ctx.set(dut.i_slot, slot)
            ctx.set(dut.i_increment, increment)
            ctx.set(dut.i_clear, clear)
            assert ctx.get(getattr(dut, f"o_{name}")) == model.ids[slot]
            seen.add((slot, model.ids[slot]))
            await ctx.tick()
            if increment:
                model.increment(slot)
            if clear:
                model.clear()

    simulate(dut, testbench)
    assert seen == {(slot, value) for slot in range(blocks) for value in range(4)}
