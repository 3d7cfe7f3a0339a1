"""Structure checks on small designs with planted paths and known state."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.generators.structure import StateBits, memory_bits, state_bits, total_state
from racetrap.rtl.common.stream import StreamRegister
from tests.support.rtl.ready_paths import valid_to_ready_paths


class Planted(wiring.Component):
    """Two streams through registers; ``wire(m, self)`` spoils something."""

    def __init__(self, wire=lambda m, dut: None):
        self._wire = wire
        super().__init__({
            "i": In(stream.Signature(4)).array(2),
            "o": Out(stream.Signature(4)).array(2),
            "extra_ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        for k in range(2):
            m.submodules[f"register_{k}"] = register = StreamRegister(4)
            wiring.connect(m, register.i, wiring.flipped(self.i[k]))
            wiring.connect(m, register.o, wiring.flipped(self.o[k]))
        self._wire(m, self)
        return m


def direct(m, dut):
    m.d.comb += dut.extra_ready.eq(dut.i[1].valid)


def long_way_round(m, dut):
    """Through an adder, a switch, a memory read and a submodule's wire."""
    memory = m.submodules.memory = Memory(shape=1, depth=4, init=[1])
    read = memory.read_port(domain="comb")
    sum_ = Signal(3)
    m.d.comb += sum_.eq(dut.i[0].payload[:2] + dut.i[0].valid)
    with m.If(dut.i[1].payload[0]):
        m.d.comb += read.addr.eq(sum_)
    m.d.comb += dut.extra_ready.eq(read.data)


def registered(m, dut):
    flag = Signal()
    m.d.sync += flag.eq(dut.i[0].valid)
    m.d.comb += dut.extra_ready.eq(flag)


def synchronous_memory(m, dut):
    memory = m.submodules.memory = Memory(shape=1, depth=2, init=[1])
    read = memory.read_port()
    m.d.comb += [read.addr.eq(dut.i[0].valid), dut.extra_ready.eq(read.data)]


@pytest.mark.parametrize(
    ("wire", "paths"),
    [
        (lambda m, dut: None, []),
        (direct, [("i__1__valid", "extra_ready")]),
        (long_way_round, [("i__0__valid", "extra_ready")]),
        (registered, []),
        (synchronous_memory, []),
    ],
    ids=["none", "direct", "long", "registered", "memory"],
)
def test_planted_paths_are_found(wire, paths):
    assert valid_to_ready_paths(Planted(wire)) == paths


def test_state_is_counted_by_module():
    def state(m, dut):
        counter = Signal(7)
        m.d.sync += counter.eq(counter + 1)
        m.submodules.memory = memory = Memory(shape=9, depth=5, init=[])
        write = memory.write_port()
        m.d.comb += [write.en.eq(1), write.addr.eq(counter), write.data.eq(counter)]

    bits = state_bits(Planted(state))
    assert bits == {
        "top": StateBits(flip_flops=7, memory_bits=45),
        "top.register_0": StateBits(flip_flops=5),
        "top.register_1": StateBits(flip_flops=5),
    }
    assert total_state(bits) == StateBits(flip_flops=17, memory_bits=45)
    assert total_state(bits, "top.register_1") == StateBits(flip_flops=5)
    assert total_state(bits, "top.register") == StateBits()


def test_memories_are_named_by_module():
    def memories(m, dut):
        m.submodules.inner = inner = Module()
        for module, name, depth in ((m, "words", 5), (inner, "table", 3)):
            memory = module.submodules[name] = Memory(shape=9, depth=depth, init=[])
            memory.read_port()

    assert memory_bits(Planted(memories)) == {"words": 45, "inner.table": 27}
