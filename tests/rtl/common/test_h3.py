"""H3 hash in gates against the golden one."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.h3 import h3_hash, h3_rows
from racetrap.rtl.common.h3 import h3_hash_of
from tests.support.rtl.combinational import evaluate


class Hash(wiring.Component):
    """The hash as a component."""

    def __init__(self, rows, bits):
        self._rows, self._bits = rows, bits
        super().__init__({"i": In(len(rows)), "o": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(h3_hash_of(self._rows, self._bits, self.i))
        return m


@pytest.mark.parametrize(("width", "bits"), [(1, 4), (2, 4), (8, 7), (20, 8), (28, 10)])
def test_hash(width, bits):
    rng = random.Random(width)
    rows = h3_rows(width, bits, "test")
    values = [0, *(1 << bit for bit in range(width)), *(rng.getrandbits(width) for _ in range(200))]
    results = evaluate(Hash(rows, bits), [{"i": value} for value in values], "o")
    assert results == [h3_hash(rows, value) for value in values]
