"""The report writer and its ring buffer."""

import random

import pytest

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.report_writer import ReportWriter
from tests.support.rtl.axi_memory import AxiMemory
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import put_all, random_idle, simulate

PARAMS = ScordParams()
LAYOUT = PARAMS.report_layout
BASE = 0x12_3456_7FE0  # the second record of a larger ring starts a new page


def reports(count, seed=0):
    """Random records; the numbers in them are for the writer to overwrite."""
    rng = random.Random(seed)
    return [rng.getrandbits(LAYOUT.width) for _ in range(count)]


def numbered(word, sequence):
    return LAYOUT.pack({**LAYOUT.unpack(word), "sequence": sequence})


def record_at(memory, address):
    return sum(memory.words[address // 8 + beat] << 64 * beat for beat in range(4))


class Bench:
    """A writer, its memory, and counts of its pulses."""

    def __init__(self, *, capacity_log2=3, **memory):
        self.dut = ReportWriter(LAYOUT, PARAMS.address_bits)
        self.memory = AxiMemory(self.dut.m_axi, **memory)
        self.capacity_log2 = capacity_log2
        self.counts = {"written": 0, "dropped": 0, "write_error": 0}

    async def _count(self, ctx):
        pulses = [getattr(self.dut, f"o_{name}") for name in self.counts]
        while True:
            _, _, *levels = await ctx.tick().sample(*pulses)
            for name, level in zip(self.counts, levels, strict=True):
                self.counts[name] += level

    async def configure(self, ctx):
        ctx.set(self.dut.i_base, BASE)
        ctx.set(self.dut.i_capacity_log2, self.capacity_log2)

    async def drain(self, ctx):
        await ctx.tick()
        while not ctx.get(self.dut.o_idle):
            await ctx.tick()

    def run(self, testbench, cycles=20_000):
        simulate(
            self.dut,
            testbench,
            background=[self._count, *self.memory.testbenches()],
            cycles=cycles,
        )


@pytest.mark.parametrize("seed", range(3))
def test_writes_records_in_order_while_software_reads(seed):
    bench = Bench(idle=random_idle(seed))
    sent = reports(40, seed)

    async def testbench(ctx):
        await bench.configure(ctx)
        for number, word in enumerate(sent):
            await put_all(bench.dut.i, [word])(ctx)
            await bench.drain(ctx)
            assert ctx.get(bench.dut.o_head) == number + 1
            place = BASE + 32 * (number % 8)
            assert record_at(bench.memory, place) == numbered(word, number)
            ctx.set(bench.dut.i_tail, number + 1)

    bench.run(testbench)
    assert bench.memory.bursts == [(BASE + 32 * (n % 8), 4) for n in range(40)]
    assert bench.counts == {"written": 40, "dropped": 0, "write_error": 0}


@pytest.mark.parametrize("capacity_log2", [0, 1, 3])
def test_full_ring_drops_and_leaves_a_gap_in_the_numbers(capacity_log2):
    bench = Bench(capacity_log2=capacity_log2)
    capacity = 1 << capacity_log2
    sent = reports(capacity + 4)

    async def testbench(ctx):
        await bench.configure(ctx)
        await put_all(bench.dut.i, sent[:-1])(ctx)
        await bench.drain(ctx)
        assert ctx.get(bench.dut.o_full) == 1
        assert ctx.get(bench.dut.o_head) == capacity
        for number in range(capacity):
            place = BASE + 32 * number
            assert record_at(bench.memory, place) == numbered(sent[number], number)
        ctx.set(bench.dut.i_tail, 1)
        await put_all(bench.dut.i, sent[-1:])(ctx)
        await bench.drain(ctx)
        assert record_at(bench.memory, BASE) == numbered(sent[-1], capacity + 3)

    bench.run(testbench)
    assert bench.counts == {"written": capacity + 1, "dropped": 3, "write_error": 0}


def test_error_response_is_counted_and_its_place_used_again():
    bench = Bench()
    sent = reports(3)

    async def testbench(ctx):
        await bench.configure(ctx)
        bench.memory.error = lambda address: True
        await put_all(bench.dut.i, sent[:1])(ctx)
        await bench.drain(ctx)
        assert ctx.get(bench.dut.o_head) == 0
        bench.memory.error = lambda address: False
        await put_all(bench.dut.i, sent[1:])(ctx)
        await bench.drain(ctx)
        assert ctx.get(bench.dut.o_head) == 2
        for place in range(2):
            record = record_at(bench.memory, BASE + 32 * place)
            assert record == numbered(sent[place + 1], place + 1)

    bench.run(testbench)
    assert bench.counts == {"written": 2, "dropped": 1, "write_error": 1}


def test_head_moves_only_with_the_response():
    bench = Bench()

    async def testbench(ctx):
        await bench.configure(ctx)
        bench.memory.idle = lambda: 20
        await put_all(bench.dut.i, reports(1))(ctx)
        while not bench.memory.bursts:
            assert ctx.get(bench.dut.o_head) == 0
            await ctx.tick()
        assert ctx.get(bench.dut.o_head) == 0
        await bench.drain(ctx)
        assert ctx.get(bench.dut.o_head) == 1

    bench.run(testbench)


def test_a_tail_beyond_the_head_reads_as_full():
    bench = Bench()

    async def testbench(ctx):
        await bench.configure(ctx)
        ctx.set(bench.dut.i_tail, 1)
        await put_all(bench.dut.i, reports(1))(ctx)
        await bench.drain(ctx)
        assert ctx.get(bench.dut.o_head) == 0

    bench.run(testbench)
    assert bench.memory.bursts == []
    assert bench.counts["dropped"] == 1


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(ReportWriter(LAYOUT, PARAMS.address_bits)) == []
