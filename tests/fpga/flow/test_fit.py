"""A design that does not fit is told what it needs and what there is."""

from functools import reduce
from operator import xor

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.fpga.flow.families import family
from racetrap.fpga.flow.fit import shortage
from racetrap.fpga.flow.place_and_route import place_and_route
from racetrap.sim.failure import DoesNotFit

_ENOUGH = {"LC": {"used": 10, "available": 10}, "RAM": {"used": 0, "available": 4}}


class Memories(wiring.Component):
    """A memory that takes some of an iCE40's block RAMs, of 256 words of 16 bits."""

    i_address: In(8)
    i_data: In(16)
    i_write: In(1)
    o_data: Out(16)

    def __init__(self, block_rams):
        self._count = block_rams
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=16 * self._count, depth=256, init=[])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.addr.eq(self.i_address),
            write.data.eq(self.i_data.replicate(self._count)),
            write.en.eq(self.i_write),
            read.addr.eq(self.i_address),
            self.o_data.eq(reduce(xor, (read.data.word_select(n, 16) for n in range(self._count)))),
        ]
        return m


def test_shortage():
    assert shortage({}) == shortage(_ENOUGH) == ""
    short = {"LC": {"used": 9094, "available": 7680}, "RAM": {"used": 5, "available": 4}}
    assert shortage(short) == "9,094 of 7,680 LC, 5 of 4 RAM"
    assert shortage(_ENOUGH | {"RAM": short["RAM"]}) == "5 of 4 RAM"


# Place and route of a large block; `make test` has what is said, and that of a small one.
@pytest.mark.campaign
def test_a_block_with_too_many_memories(tmp_path):
    with pytest.raises(
        DoesNotFit,
        match=r"^Block and its shift registers do not fit iCE40UP5K, SG48: "
        r"they need 31 of 30 ICESTORM_RAM$",
    ):
        place_and_route(Memories(31), family("ice40", "up5k"), [1], tmp_path, constraint_mhz=10)
