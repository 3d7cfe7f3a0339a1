"""Puts random reports through a report filter beside the golden one."""

from __future__ import annotations

import random

from racetrap.golden_model.gpu.report_filter import ReportFilter as GoldenFilter
from racetrap.rtl.gpu.report_filter import ReportFilter
from tests.support.rtl.streams import get_forever, put_all, random_idle, simulate


def record(params, pc, race, sequence=0):
    layout = params.report_layout
    return layout.pack({
        **dict.fromkeys(layout.fields, 0), "pc": pc, "race": race, "address": 0xAB0 + sequence,
    })  # fmt: skip


def compare(params, seed, component=ReportFilter):
    """Reports of few pairs; those that leave are what the golden filter admits."""
    rng = random.Random(seed)
    pcs = [rng.getrandbits(params.pc_bits) for _ in range(6)]
    pairs = [(rng.choice(pcs), rng.randint(1, 5)) for _ in range(150)]
    golden = GoldenFilter(params)
    sent = [record(params, *pair, number) for number, pair in enumerate(pairs)]
    expected = [word for word, pair in zip(sent, pairs, strict=True) if golden.admit(*pair)]
    assert 0 < len(expected) < len(sent)

    dut = component(params)
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
