"""Indices of a granule in gates against the golden signature."""

import random
from dataclasses import replace

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.rtl.sigrace.layouts import GRANULE_BITS, index_layout
from racetrap.rtl.sigrace.signature_bank import granule_indices
from tests.support.rtl.combinational import evaluate
from tests.support.sigrace.blocks import EDGES
from tests.support.sigrace.configurations import SIGNATURES, SMALL, signature_params

CONFIGURATIONS = {str(settings): replace(SMALL, **settings) for settings in EDGES} | {
    name: signature_params(name) for name in SIGNATURES
}


class Indices(wiring.Component):
    """The hash as a component."""

    def __init__(self, params):
        self._params = params
        super().__init__({"i": In(GRANULE_BITS), "o": Out(index_layout(params).size)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(granule_indices(self._params, self.i))
        return m


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_indices(name):
    params = CONFIGURATIONS[name]
    rng = random.Random(name)
    granules = [0, *(1 << bit for bit in range(30)), *(rng.getrandbits(30) for _ in range(30))]
    words = evaluate(Indices(params), [{"i": granule} for granule in granules], "o")
    for granule, word in zip(granules, words, strict=True):
        indices = index_layout(params).from_bits(word)
        bits = sum(
            1 << each.offset + indices[str(number)]
            for number, each in enumerate(params.sub_filters)
        )
        assert bits == signature_hash(params).granule(granule << 2)
