"""Arrays: what each form answers, which are macros, and that a design has no others."""

import re
from dataclasses import replace
from random import Random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.presets import PRESETS
from racetrap.generators.scord import SCORD
from racetrap.generators.verilog import to_verilog
from racetrap.rtl.common.ram import Ram
from tests.support.rtl.streams import simulate

_WIDTH, _DEPTH = 8, 5
#: Sizes and ports of an array.
_KINDS = {
    "one port": {"reads": 1},
    "two ports": {"reads": 2},
    "asynchronous": {"reads": 2, "is_asynchronous": True},
    "parts": {"reads": 1, "parts": 4},
}


def _merged(before, data, enable, parts):
    """A word of which the enabled parts are written."""
    bits = _WIDTH // parts
    mask = sum(((1 << bits) - 1) << bits * part for part in range(parts) if enable >> part & 1)
    return before & ~mask | data & mask


def _random_use(dut, parts, is_asynchronous, compared):
    """Random reads and writes, beside the words that there are."""

    async def testbench(ctx):
        random, words = Random(1), [0] * _DEPTH
        answers = [None] * len(dut.read)
        for _ in range(300):
            address, data = random.randrange(_DEPTH), random.randrange(1 << _WIDTH)
            enable = random.choice((0, random.randrange(1 << parts)))
            ctx.set(dut.write.addr, address)
            ctx.set(dut.write.data, data)
            ctx.set(dut.write.en, enable)
            for number, port in enumerate(dut.read):
                place, is_read = random.randrange(_DEPTH), random.random() < 0.7
                ctx.set(port.addr, place)
                if is_asynchronous:
                    answers[number] = words[place]
                else:
                    ctx.set(port.en, is_read)
                    assert answers[number] in (None, ctx.get(port.data))
                    answers[number] = words[place] if is_read else answers[number]
                if is_asynchronous:
                    assert ctx.get(port.data) == answers[number]
                compared.append(answers[number])
            words[address] = _merged(words[address], data, enable, parts)
            await ctx.tick()

    return testbench


@pytest.mark.parametrize("kind", _KINDS)
def test_flip_flops_give_what_was_written(kind):
    options, compared = _KINDS[kind], []
    dut = Ram(_WIDTH, _DEPTH, macro_words=_DEPTH + 1, **options)
    use = _random_use(dut, options.get("parts", 1), options.get("is_asynchronous", False), compared)
    simulate(dut, use)
    assert len(set(compared)) > 50


class _Arrays(wiring.Component):
    """A table that is read in a cycle, a queue that is read at once, and a table like the first."""

    i: In(4)
    o: Out(8).array(3)

    def __init__(self, change=lambda memory: None):
        self._change = change
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        for name, domain, o in zip(
            ("first", "queue", "twin"), ("sync", "comb", "sync"), self.o, strict=True
        ):
            memory = Memory(shape=8, depth=12, init=[])
            m.submodules[name] = memory
            write, read = memory.write_port(), memory.read_port(domain=domain)
            m.d.comb += [
                write.addr.eq(self.i), write.data.eq(self.i), write.en.eq(self.i[0]),
                read.addr.eq(self.i), o.eq(read.data),
            ]  # fmt: skip
        self._change(memory)
        return m


def _arrays_of(text):
    """Modules of a Verilog file, each with the number of its arrays."""
    found = {}
    for module in re.findall(r"^module .*?^endmodule$", text, re.MULTILINE | re.DOTALL):
        name = re.match(r"module (\w+)", module)[1]
        found[name] = len(re.findall(r"^  reg (?:\[.*\] )?\S+ \[.*\];", module, re.MULTILINE))
    return found


def test_every_array_is_a_module_of_the_family():
    assert _arrays_of(to_verilog(_Arrays(), "top")) == {"top": 3}
    text = to_verilog(_Arrays(), "top", macro_words=13)
    assert _arrays_of(text) == {"top": 0, "top_ram_8x12_1r1w": 0, "top_ram_8x12_1a1w": 0}
    assert re.findall(r"^  (top_ram\w+) (\w+) \(", text, re.MULTILINE) == [
        ("top_ram_8x12_1r1w", "first"),
        ("top_ram_8x12_1a1w", "queue"),
        ("top_ram_8x12_1r1w", "twin"),
    ]


@pytest.mark.parametrize(("words", "macros"), [(12, 1), (13, 0)])
def test_arrays_of_enough_words_are_macros(words, macros):
    text = to_verilog(_Arrays(), "top", macro_words=words)
    parameters = re.findall(r"^    \.([A-Z_]+)\(32'd(\d+)\)", text, re.MULTILINE)
    given = [("WIDTH", "8"), ("DEPTH", "12"), ("ADDRESS_BITS", "4")]
    assert sorted(parameters) == sorted(given * macros)
    model = {"racetrap_ram": 1} if macros else {}
    assert {name: count for name, count in _arrays_of(text).items() if count} == model


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda memory: memory.write_port(), "write ports"),
        (lambda memory: memory.read_port(domain="comb"), "kinds of read ports"),
        (lambda memory: memory.init.__setitem__(3, 1), "initial contents"),
    ],
    ids=["writes", "reads", "contents"],
)
def test_another_kind_of_array_is_refused(change, what):
    with pytest.raises(ValueError, match=f"{what}$"):
        to_verilog(_Arrays(change), "top", macro_words=2)


@pytest.mark.campaign
def test_arrays_of_a_detector_are_macros_or_answer_at_once():
    """No array is left that a team could not bind a macro to, or have in flip-flops."""
    params = replace(PRESETS["scord-tiny"].params, macro_words=2)
    found = {
        path.rpartition(".")[2]
        for module in distinct_modules(SCORD.top(params), "top", macro_words=2)
        for path, _, inner in module.instances
        if isinstance(inner.component, Ram) and inner.component.is_asynchronous
    }
    assert found == {"origins", "claim_marks", "answer_marks", "changed"}
    text = to_verilog(SCORD.top(params), "top", macro_words=2)
    assert {name for name, count in _arrays_of(text).items() if count} == {"racetrap_ram"}
