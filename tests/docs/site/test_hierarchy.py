"""Blocks and links of a design."""

import pytest
from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from docs.site.hierarchy import OUTSIDE, Link, block_diagram
from racetrap.generators.structure import netlist_of


class _Stage(wiring.Component):
    i: In(stream.Signature(4))
    o: Out(stream.Signature(4))
    i_enable: In(1)
    o_level: Out(3)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.o_level.eq(self.o_level + self.i.valid)
        m.d.sync += [self.o.payload.eq(self.i.payload ^ 1), self.o.valid.eq(self.i_enable)]
        m.d.sync += self.i.ready.eq(self.o.ready)
        return m


class _Pair(wiring.Component):
    i: In(stream.Signature(4))
    o: Out(stream.Signature(4))
    i_enable: In(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = _Stage()
        m.submodules.second = second = _Stage()
        wiring.connect(m, wiring.flipped(self.i), first.i)
        wiring.connect(m, first.o, second.i)
        wiring.connect(m, second.o, wiring.flipped(self.o))
        m.d.comb += [first.i_enable.eq(self.i_enable), second.i_enable.eq(first.o_level[0])]
        return m


def test_blocks_streams_and_other_wires():
    diagram = block_diagram(netlist_of(_Pair()))
    assert diagram.blocks == ("first", "second")
    assert set(diagram.links) == {
        Link(OUTSIDE, "first", True),
        Link("first", "second", True),
        Link("second", OUTSIDE, True),
    }


def test_a_wire_that_is_no_stream():
    class Only(_Pair):
        def elaborate(self, platform):
            m = super().elaborate(platform)
            m.submodules.third = third = _Stage()
            m.d.comb += third.i_enable.eq(self.i_enable)
            return m

    assert Link(OUTSIDE, "third", False) in block_diagram(netlist_of(Only())).links


def test_path_of_no_module_is_refused():
    with pytest.raises(ValueError, match=r"^Path must be that of a module, not top\.third$"):
        block_diagram(netlist_of(_Pair()), "top.third")
