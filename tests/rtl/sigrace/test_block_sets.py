"""Block sets in both forms against the golden ones, one granule a cycle."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.params import Form
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.rtl.sigrace.block_sets import BlockSets
from racetrap.rtl.sigrace.layouts import set_layout
from tests.support.rtl.streams import simulate
from tests.support.sigrace.blocks import EDGES, indices_of
from tests.support.sigrace.configurations import SMALL


def contents(params, word):
    """A set as the golden model holds it."""
    held = set_layout(params).from_bits(word)
    if params.form is Form.HASHED:
        assert held.is_empty == (held.signature == 0)
        return held.signature
    assert held.is_empty == (held.count == 0)
    return AddressSet(held.bitmap, [held.usb[place] for place in range(held.count)])


def golden_contents(params, granules):
    """The set of some granules, in the order of insertion."""
    if params.form is Form.HASHED:
        return signature_of_granules(params, granules)
    result = AddressSet()
    for granule in granules:
        result.insert(params, granule)
    return result


def random_granules(params, rng, count):
    usb = [rng.getrandbits(params.usb_bits) for _ in range(params.usb_limit + 1)]
    return [
        rng.choice(usb) << params.lsb_bits | rng.randrange(params.lsb_values) << 2
        for _ in range(count)
    ]


@pytest.mark.parametrize("settings", EDGES, ids=str)
def test_random_granules(settings):
    """Insertions, gaps, clears alone and together with an insertion; a full set is cleared."""
    params = replace(SMALL, **settings)
    rng = random.Random(str(settings))
    granules = random_granules(params, rng, 120)
    dut = BlockSets(params)

    async def testbench(ctx):
        sets = ([], [])  # granules read and written since the last clear
        ctx.set(dut.i_fetch.payload, granules[0] >> 2)
        ctx.set(dut.i_fetch.valid, 1)
        await ctx.tick()
        for granule, following in pairwise(granules):
            is_write = rng.getrandbits(1)
            ctx.set(dut.i_is_write, is_write)
            ctx.set(dut.i_fetch.valid, 0)
            ctx.set(dut.i_granule, granule >> 2)
            ctx.set(dut.i_indices, indices_of(params, granule))
            while rng.random() < 0.2:  # the granule waits; the block may end meanwhile
                ctx.set(dut.i_insert, 0)
                ctx.set(dut.i_clear, clears := rng.random() < 0.3)
                await ctx.tick()
                if clears:
                    sets = ([], [])
            values = {each >> params.lsb_bits for each in sets[is_write]}
            is_full = len(values) == params.usb_limit and params.form is Form.SETS
            overflows = is_full and granule >> params.lsb_bits not in values
            assert ctx.get(dut.o_overflows) == overflows
            assert ctx.get(dut.o_is_empty) == (sets == ([], []))
            if clears := overflows or rng.random() < 0.02:
                sets = ([], [])
            sets[is_write].append(granule)
            ctx.set(dut.i_insert, 1)
            ctx.set(dut.i_clear, clears)
            ctx.set(dut.i_fetch.payload, following >> 2)
            ctx.set(dut.i_fetch.valid, 1)
            await ctx.tick()
            ctx.set(dut.i_insert, 0)
            ctx.set(dut.i_clear, 0)
            for port, inserted in zip((dut.o_read, dut.o_write), sets, strict=True):
                held = contents(params, ctx.get(port.as_value()))
                assert held == golden_contents(params, inserted)

    simulate(dut, testbench)
