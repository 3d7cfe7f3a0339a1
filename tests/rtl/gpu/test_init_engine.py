"""Initialisation engine: every entry of the bank once, then the responses."""

import pytest

from racetrap.golden_model.gpu.region import bank_of_entry
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.init_engine import InitEngine
from racetrap.rtl.gpu.region import index_bits
from tests.support.rtl.streams import Idle, get, pulse, random_idle, simulate


def run(params, bank, entries_log2, *, idle: Idle | None = None, delay=3, runs=1):
    """Entries written by each run, and the cycles it was busy."""
    dut = InitEngine(params)
    layout = Layout({"entry": 64, "index": index_bits(params)})
    per_run = sum(bank_of_entry(params, index) == bank for index in range(1 << entries_log2))
    written, busy, due = [], [], []

    async def sink(ctx):
        while True:
            for _ in range(idle() if idle else 0):
                await ctx.tick()
            written.append(layout.unpack(await get(ctx, dut.o)))
            due.append(delay)

    async def responses(ctx):
        while True:
            answers = bool(due and due[0] <= 0)
            if answers:
                due.pop(0)
            ctx.set(dut.i_done, answers)
            await ctx.tick()
            due[:] = [cycles - 1 for cycles in due]

    async def testbench(ctx):
        ctx.set(dut.i_port, bank)
        ctx.set(dut.i_entries_log2, entries_log2)
        for number in range(runs):
            assert not ctx.get(dut.o_busy)
            await pulse(ctx, dut.i_start)
            cycles = 0
            while ctx.get(dut.o_busy):
                await ctx.tick()
                cycles += 1
            busy.append(cycles)
            assert len(written) == (number + 1) * per_run, "not all was written when it ended"
            assert not due, "a response was not waited for"

    simulate(dut, testbench, background=[sink, responses])
    return written, busy


SIZES = [
    ({"banks": 1}, 0, 0),
    ({"banks": 1}, 0, 5),
    ({"banks": 4}, 0, 2),
    ({"banks": 4}, 3, 2),
    ({"banks": 4}, 2, 6),
    ({"banks": 3}, 0, 7),
    ({"banks": 6}, 5, 9),
    ({"banks": 20}, 0, 11),
    ({"banks": 2, "local_bytes": 256}, 1, 5),  # the largest region of this configuration
]


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize(("settings", "bank", "entries_log2"), SIZES, ids=str)
def test_every_entry_of_the_bank_once(settings, bank, entries_log2, has_gaps):
    params = ScordParams(**settings)
    idle = random_idle("gaps") if has_gaps else None
    written, _ = run(params, bank, entries_log2, idle=idle, runs=2)
    once = [
        {"entry": UNINITIALISED_ENTRY, "index": index}
        for index in range(1 << entries_log2)
        if bank_of_entry(params, index) == bank
    ]
    assert written == once * 2


def test_one_entry_a_cycle():
    _, busy = run(ScordParams(), 0, 6)
    assert busy[0] <= 64 + 6
