"""The sink behind the writer that feeds it: every record comes out whole, once and in order."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.fpga.boards.report_sink import ReportSink
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.report_writer import ReportWriter
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, simulate

PARAMS = ScordParams()
LAYOUT = PARAMS.report_layout


class Chain(wiring.Component):
    """A writer whose ring is never full, and the sink."""

    i: In(stream.Signature(struct_layout(LAYOUT)))
    o: Out(stream.Signature(256))
    o_taken: Out(1)
    o_written: Out(1)

    def __init__(self, depth):
        self.sink = ReportSink(address_bits=PARAMS.address_bits, depth=depth)
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.writer = writer = ReportWriter(LAYOUT, PARAMS.address_bits)
        m.submodules.sink = sink = self.sink
        wiring.connect(m, writer.m_axi, sink.s_axi)
        wiring.connect(m, wiring.flipped(self.i), writer.i)
        wiring.connect(m, sink.o_record, wiring.flipped(self.o))
        m.d.comb += [
            writer.i_capacity_log2.eq(20),
            self.o_taken.eq(sink.o_taken),
            self.o_written.eq(writer.o_written),
        ]
        return m


def reports(count, seed):
    rng = random.Random(seed)
    return [rng.getrandbits(LAYOUT.width) for _ in range(count)]


def records(sent):
    """Records of reports: the writer numbers them from 0 on."""
    return [
        LAYOUT.pack({**LAYOUT.unpack(word), "sequence": number}) for number, word in enumerate(sent)
    ]


def counter(signal, into):
    async def testbench(ctx):
        while True:
            *_, level = await ctx.tick().sample(signal)
            into.append(level)

    return testbench


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 16])
@pytest.mark.parametrize("longest", [0, 3, 60])
def test_every_record_comes_out(depth, longest):
    dut, sent, got = Chain(depth), reports(40, seed=depth), []
    idle = random_idle(f"{depth} {longest}", probability=0.7, longest=max(longest, 1))
    idles = {"idle": idle} if longest else {}
    taken, written = [], []
    simulate(
        dut, put_all(dut.i, sent), get_all(dut.o, len(sent), got, **idles),
        background=[counter(dut.o_taken, taken), counter(dut.o_written, written)],
    )  # fmt: skip
    assert got == records(sent)
    assert sum(taken) == len(sent)
    assert sum(written) in (len(sent), len(sent) - 1)  # the last response may be on its way


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_full_sink_lets_the_writer_wait(depth):
    dut, sent, taken = Chain(depth), reports(depth + 6, seed=1), []
    got = []

    async def wait_and_drain(ctx):
        for _ in range(30 * len(sent)):
            await ctx.tick()
        # One is offered, one put together.
        assert sum(taken) == depth + 2
        await get_all(dut.o, len(sent), got)(ctx)

    simulate(dut, put_all(dut.i, sent), wait_and_drain, background=[counter(dut.o_taken, taken)])
    assert got == records(sent)


def test_latency_and_what_waits_is_seen():
    dut, sent, taken, seen = Chain(4), reports(1, seed=2), [], []
    got = []
    simulate(
        dut, put_all(dut.i, sent), get_all(dut.o, 1, got),
        background=[counter(dut.o_taken, taken), monitor(dut.o, seen)],
    )  # fmt: skip
    (when, word), *_ = seen
    assert word == records(sent)[0]
    assert when - taken.index(1) == 4

    dut, sent, offered = Chain(4), reports(5, seed=3), []

    async def take_slowly(ctx):
        for _ in range(100):
            await ctx.tick()
        for number in range(len(sent)):
            offered.append(ctx.get(dut.o.valid))
            await get_all(dut.o, 1, got)(ctx)
            for _ in range(4):
                await ctx.tick()
            assert ctx.get(dut.o.valid) == (number + 1 < len(sent))

    simulate(dut, put_all(dut.i, sent), take_slowly)
    assert offered == [1] * len(sent)


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(ReportSink(address_bits=32, depth=2)) == []


def test_depth_must_be_positive():
    with pytest.raises(ValueError, match="Sink depth must be at least 1, not 0"):
        ReportSink(address_bits=32, depth=0)
