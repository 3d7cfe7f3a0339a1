"""Lock hash and block masks in gates against the golden functions."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash
from racetrap.golden_model.scord.params import LOCK_HASH_BITS, ScordParams
from racetrap.rtl.scord.lock_hash import block_masks_of, lock_hash_of
from tests.support.rtl.combinational import evaluate


class Function(wiring.Component):
    """A combinational function of one value as a component."""

    def __init__(self, function, width):
        self._function = function
        super().__init__({"i": In(width), "o": Out(6)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(self._function(self.i))
        return m


@pytest.mark.parametrize("width", [1, 5, 6, 7, 14, 38, 62])
def test_hash(width):
    rng = random.Random(width)
    words = [0, *(1 << bit for bit in range(width)), *(rng.getrandbits(width) for _ in range(200))]
    results = evaluate(Function(lock_hash_of, width), [{"i": word} for word in words], "o")
    assert results == [lock_hash(word) for word in words]


@pytest.mark.parametrize("blocks", [1, 3, 4, 5, 8])
@pytest.mark.parametrize("sm", [0, 14])
def test_block_masks(blocks, sm):
    params = ScordParams(blocks_per_sm=blocks)
    dut = Function(
        lambda slot: block_masks_of(params, sm).word_select(slot, LOCK_HASH_BITS), params.slot_bits
    )
    results = evaluate(dut, [{"i": slot} for slot in range(blocks)], "o")
    assert results == [block_mask(params.block_id(sm, slot)) for slot in range(blocks)]
