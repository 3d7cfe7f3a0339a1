"""Equal modules written once, and constants of instances as inputs."""

import re

from amaranth.back import rtlil
from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators.shared_modules import share_modules


class _Adder(wiring.Component):
    """Adds a number, which it has as a signal or only as a constant."""

    def __init__(self, number, *, named):
        self._number, self._named = number, named
        super().__init__({"i": In(8), "o": Out(8)})

    def elaborate(self, platform):
        m = Module()
        number = Const(self._number, 4)
        if self._named:
            number = Signal(4)
            m.d.comb += number.eq(self._number)
        m.d.comb += self.o.eq(self.i + number)
        return m


class _Chain(wiring.Component):
    """A block after the other."""

    def __init__(self, *blocks):
        self._blocks = blocks
        super().__init__({"i": In(8), "o": Out(8)})

    def elaborate(self, platform):
        m = Module()
        value = self.i
        for number, block in enumerate(self._blocks):
            m.submodules[f"block_{number}"] = block
            m.d.comb += block.i.eq(value)
            value = block.o
        m.d.comb += self.o.eq(value)
        return m


def _shared(component):
    text = share_modules(rtlil.convert(component, name="top", emit_src=False))
    assert text.count("\nmodule ") == text.count("\nend\n")
    return text


def _modules(text):
    return re.findall(r"^module \\(\S+)$", text, re.MULTILINE)


def _instances(text):
    return re.findall(r"^  cell \\(\S+) \\(\S+)$", text, re.MULTILINE)


def test_equal_modules_are_one():
    text = _shared(_Chain(*(_Adder(5, named=False) for _ in range(3))))
    assert _modules(text) == ["top", "top_block"]
    assert _instances(text) == [("top_block", f"block_{number}") for number in range(3)]


def test_the_top_keeps_a_number_at_the_end_of_its_name():
    chain = _Chain(*(_Adder(5, named=False) for _ in range(2)))
    text = share_modules(rtlil.convert(chain, name="random_1", emit_src=False))
    assert _modules(text) == ["random_1", "random_1_block"]


def test_named_constants_are_inputs_again():
    text = _shared(_Chain(*(_Adder(number, named=True) for number in (9, 13))))
    assert _modules(text) == ["top", "top_block"]
    assert re.findall(r"^    connect \\number (\S+)$", text, re.MULTILINE) == ["4'1001", "4'1101"]
    module = text[text.index("module \\top_block") :]
    assert re.search(r"^  wire width 4 input \d \\number$", module, re.MULTILINE)
    assert "4'1001" not in module
    assert "4'1101" not in module


def test_modules_within_have_an_input_each_for_constants_of_one_name():
    """Two chains of two blocks, all numbers different, are one chain with two inputs."""
    chains = [
        _Chain(*(_Adder(number, named=True) for number in pair)) for pair in ((9, 13), (10, 15))
    ]
    text = _shared(_Chain(*chains))
    assert _modules(text) == ["top", "top_block", "top_block_block"]
    inner = text[text.index("module \\top_block\n") : text.index("module \\top_block_block")]
    connected = re.findall(r"^    connect \\number (.+)$", inner, re.MULTILINE)
    assert connected == ["\\number [3:0]", "\\number_1 [3:0]"]
    top = text[: text.index("module \\top_block\n")]
    assert re.findall(r"^    connect (\\number\S*) (\S+)$", top, re.MULTILINE) == [
        ("\\number", "4'1001"), ("\\number_1", "4'1101"),
        ("\\number", "4'1010"), ("\\number_1", "4'1111"),
    ]  # fmt: skip


def test_other_constants_keep_modules_apart():
    text = _shared(_Chain(_Adder(9, named=False), _Adder(13, named=False)))
    assert _modules(text) == ["top", "top_block_0", "top_block_1"]
    assert ("4'1001" in text, "4'1101" in text) == (True, True)


def test_constants_go_through_the_modules_around():
    text = _shared(
        _Chain(*(_Chain(_Adder(1, named=False), _Adder(n, named=True)) for n in (9, 13)))
    )
    assert _modules(text)[:2] == ["top", "top_block"]
    assert len(_modules(text)) == 4
    assert re.findall(r"^    connect \\number (\S+)", text, re.MULTILINE)[:2] == [
        "4'1001", "4'1101",
    ]  # fmt: skip


def test_numbers_of_ports_are_those_of_the_module():
    """Amaranth counts the ports that it makes over the whole design."""

    class Outside(wiring.Component):
        def __init__(self):
            super().__init__({"i": In(8), "o": Out(8)})

        def elaborate(self, platform):
            m, inner = Module(), Module()
            outer = self.i + 1
            inner.d.comb += self.o.eq(outer)
            m.submodules.inner = inner
            return m

    text = _shared(_Chain(Outside(), Outside()))
    assert not re.search(r"\\port\$\d+\$\d+", text)
    assert _modules(text) == ["top", "top_block", "top_block_inner"]
