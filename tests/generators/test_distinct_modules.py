"""Equal components elaborated once, and what keeps components apart."""

import re

import pytest
from amaranth.hdl import DomainRenamer, Module, Signal
from amaranth.hdl._nir import FlipFlop
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.presets import PRESETS
from racetrap.generators.structure import netlist_of, state_bits
from racetrap.generators.systems import system_of
from racetrap.generators.verilog import to_verilog


class _Adder(wiring.Component):
    """Adds a number that it is made with, and one that comes in."""

    elaborated = 0

    def __init__(self, number, *, width=8):
        self._number = number
        super().__init__({"i": In(width), "i_number": In(4), "o": Out(width)})

    def elaborate(self, platform):
        _Adder.elaborated += 1
        m = Module()
        m.d.sync += self.o.eq(self.i + self.i_number + self._number)
        return m


class _Chain(wiring.Component):
    """A block after the other; each gets its place as a number."""

    def __init__(self, *blocks):
        self._blocks = blocks
        super().__init__({"i": In(8), "i_number": In(4), "o": Out(8)})

    def elaborate(self, platform):
        m = Module()
        value = self.i
        for number, block in enumerate(self._blocks):
            m.submodules[f"block_{number}"] = block
            m.d.comb += [block.i.eq(value), block.i_number.eq(number)]
            value = block.o
        m.d.comb += self.o.eq(value)
        return m


def _modules(text):
    return re.findall(r"^module (\w+)\(", text, re.MULTILINE)


def _instances(text):
    return re.findall(r"^  (\w+) (block_\d+) \(", text, re.MULTILINE)


def test_equal_components_are_one_module_and_elaborated_once():
    _Adder.elaborated = 0
    text = to_verilog(_Chain(*(_Adder(5) for _ in range(3))), "top")
    assert _modules(text) == ["top", "top_block"]
    assert _instances(text) == [("top_block", f"block_{number}") for number in range(3)]
    assert re.findall(r"^    \.i_number\((.*)\)", text, re.MULTILINE) == ["4'h0", "4'h1", "4'h2"]
    assert _Adder.elaborated == 1


def test_components_within_equal_components():
    pairs = [_Chain(_Adder(5), _Adder(5)) for _ in range(2)]
    assert _modules(to_verilog(_Chain(*pairs), "top")) == ["top", "top_block", "top_block_block"]


@pytest.mark.parametrize(
    "other",
    [lambda: _Adder(13), lambda: _Adder(9, width=9), lambda: _Chain(_Adder(9))],
    ids=["attribute", "port", "class"],
)
def test_what_keeps_components_apart(other):
    text = to_verilog(_Chain(_Adder(9), other()), "top")
    assert _modules(text)[:3] == ["top", "top_block_0", "top_block_1"]


def test_the_top_keeps_a_number_at_the_end_of_its_name():
    text = to_verilog(_Chain(_Adder(5), _Adder(5)), "random_1")
    assert _modules(text) == ["random_1", "random_1_block"]


def test_an_attribute_that_cannot_be_compared_keeps_components_apart():
    class Own(_Adder):
        def __init__(self):
            super().__init__(1)
            self.signal = Signal(8)

        def elaborate(self, platform):
            m = super().elaborate(platform)
            m.d.sync += self.signal.eq(self.i)
            return m

    text = to_verilog(_Chain(Own(), Own()), "top")
    assert _modules(text) == ["top", "top_block_0", "top_block_1"]


class _Peeping(_Chain):
    """Looks at a port of a block within its block."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = block = _Chain(_Adder(1))
        m.d.comb += [block.i.eq(self.i), self.o.eq(block._blocks[0].o)]
        return m


def test_a_signal_beside_the_ports_is_refused():
    """It would be undriven in the module around, which has an instance in its block's place."""
    with pytest.raises(
        ValueError,
        match=r"^Signal o of top is used in top\.block, but is no port$",
    ):
        distinct_modules(_Peeping(), "top")


class _Gated(_Chain):
    """Adders in a domain of its own: made of ``sync`` by a gate, say."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = DomainRenamer("fast")(_Adder(1))
        m.d.comb += [self.o.eq(self.i)]
        return m


def test_another_clock_is_refused():
    with pytest.raises(ValueError, match=r"^Clock of a component must be sync, not fast$"):
        distinct_modules(_Chain(_Gated()), "top")


@pytest.mark.parametrize(
    "name", ["scord-tiny", pytest.param("noncoherent-tiny", marks=pytest.mark.campaign)]
)
def test_flip_flops_are_those_of_the_whole_design(name):
    """Of each module, counted in a netlist for which every component has been elaborated."""
    params = PRESETS[name].params
    top = system_of(params).top
    netlist = netlist_of(top(params))
    counted = {
        ".".join(module.name): sum(
            len(cell.data)
            for cell in (netlist.cells[index] for index in module.cells)
            if isinstance(cell, FlipFlop)
        )
        for module in netlist.modules
    }
    found = {path: bits.flip_flops for path, bits in state_bits(top(params)).items()}
    assert {path: bits for path, bits in found.items() if bits} == {
        path: bits for path, bits in counted.items() if bits
    }
