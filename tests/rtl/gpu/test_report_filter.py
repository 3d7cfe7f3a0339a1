"""The report filter against its golden model."""

import pytest

from racetrap.golden_model.gpu.report_filter import filter_index
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.report_filter import ReportFilter
from tests.support.gpu.filter_bench import compare, record
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_forever, pulse, put_all, simulate


@pytest.mark.parametrize("entries", [2, 8, 64, 1024])
@pytest.mark.parametrize("pc_bits", [8, 32])
def test_agrees_with_golden_model(entries, pc_bits):
    params = ScordParams(report_filter_entries=entries, pc_bits=pc_bits)
    compare(params, f"{entries} {pc_bits}")


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
