"""The report filter against its golden model."""

import random

import pytest

from racetrap.golden_model.gpu.report_filter import ReportFilter as GoldenFilter
from racetrap.golden_model.gpu.report_filter import filter_index
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.report_filter import ReportFilter
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_forever, pulse, put_all, random_idle, simulate


def record(params, pc, race, sequence=0):
    layout = params.report_layout
    return layout.pack({
        **dict.fromkeys(layout.fields, 0), "pc": pc, "race": race, "address": 0xAB0 + sequence,
    })  # fmt: skip


@pytest.mark.parametrize("entries", [2, 8, 64, 1024])
@pytest.mark.parametrize("pc_bits", [8, 32])
def test_agrees_with_golden_model(entries, pc_bits):
    params = ScordParams(report_filter_entries=entries, pc_bits=pc_bits)
    rng = random.Random(f"{entries} {pc_bits}")
    pcs = [rng.getrandbits(pc_bits) for _ in range(6)]
    pairs = [(rng.choice(pcs), rng.randint(1, 5)) for _ in range(150)]
    golden = GoldenFilter(params)
    sent = [record(params, *pair, number) for number, pair in enumerate(pairs)]
    expected = [word for word, pair in zip(sent, pairs, strict=True) if golden.admit(*pair)]
    assert 0 < len(expected) < len(sent)

    dut = ReportFilter(params)
    got, suppressed = [], []

    async def count(ctx):
        while True:
            *_, kept_back = await ctx.tick().sample(dut.o_suppressed)
            suppressed.append(kept_back)

    async def testbench(ctx):
        ctx.set(dut.i_enable, 1)
        await put_all(dut.i, sent, idle=random_idle(1))(ctx)
        while not ctx.get(dut.o_idle):
            await ctx.tick()

    simulate(dut, testbench, background=[get_forever(dut.o, got, idle=random_idle(2)), count])
    assert got == expected
    assert sum(suppressed) == len(sent) - len(expected)


def test_disabled_lets_everything_through_and_remembers_nothing():
    params = ScordParams(report_filter_entries=4)
    word = record(params, 0x40, 3)
    dut = ReportFilter(params)
    got = []

    async def testbench(ctx):
        await put_all(dut.i, [word, word])(ctx)
        while len(got) < 2:
            await ctx.tick()
        ctx.set(dut.i_enable, 1)
        await put_all(dut.i, [word, word])(ctx)
        for _ in range(10):
            await ctx.tick()
        assert len(got) == 3

    simulate(dut, testbench, background=[get_forever(dut.o, got)])


def test_clear_forgets_every_pair():
    params = ScordParams(report_filter_entries=8)
    # Pairs of different entries, so that none drives another one out.
    assert len({filter_index(params, pc, 1) for pc in range(8)}) == 8
    words = [record(params, pc, 1) for pc in range(8)]
    dut = ReportFilter(params)
    got = []

    async def testbench(ctx):
        ctx.set(dut.i_enable, 1)
        for launch in range(3):
            await put_all(dut.i, words + words)(ctx)
            while not ctx.get(dut.o_idle):
                await ctx.tick()
            assert got == words * (launch + 1)
            await pulse(ctx, dut.i_clear)
            cycles = 0
            while ctx.get(dut.o_busy):
                assert not ctx.get(dut.i.ready)
                await ctx.tick()
                cycles += 1
            assert cycles == 8

    simulate(dut, testbench, background=[get_forever(dut.o, got)])


def test_one_report_in_three_cycles():
    params = ScordParams(report_filter_entries=8)
    dut = ReportFilter(params)
    got = []

    async def testbench(ctx):
        while ctx.get(dut.o_busy):
            await ctx.tick()
        ctx.set(dut.i.valid, 1)
        taken = 0
        for _ in range(30):
            *_, ready = await ctx.tick().sample(dut.i.ready)
            taken += ready
        assert taken == 10

    simulate(dut, testbench, background=[get_forever(dut.o, got)])


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(ReportFilter(ScordParams())) == []
