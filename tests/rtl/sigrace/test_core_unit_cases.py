"""Core unit: rate and latency, and what happens when something has to wait."""

from dataclasses import replace
from itertools import pairwise

import pytest

from racetrap.golden_model.sigrace.packets import Cause, CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.params import SigraceParams
from tests.support.rtl.streams import get, put
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.core_bench import CoreUnitBench, conflict_writes
from tests.support.sigrace.core_events import instructions, load, store

OP = CoreOp
ON = CoreEvent(OP.COLLECT_ON)
SYNC = CoreEvent(OP.SYNC_REACHED)
WATCH = CoreEvent(OP.MODE, Mode.ANALYSIS | 1 << 2)


def run(params, events):
    bench = CoreUnitBench(params)
    bench.run(events)
    bench.check(events)
    return bench


def step_cycles(bench):
    return [cycle for cycle, _ in bench.steps]


# Rate and latency --------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["sets", "hashed"])
def test_one_event_a_cycle(form):
    """Also over a block's end, with the compressor free."""
    params = SigraceParams(form=form, block_instructions=100)
    events = [ON, *(store(4 * number) for number in range(150)), load(0)]
    bench = run(params, events)
    cycles = step_cycles(bench)
    assert cycles == list(range(cycles[0], cycles[0] + len(events)))
    assert cycles[0] - bench.taken[0][0] == 4
    assert [step.cause for _, step in bench.steps if step.cause] == [Cause.LIMIT]


def test_one_granule_a_cycle():
    bench = run(SMALL, [ON, store(0x102, 16), load(3, 4), load(8, 8), load(4)])
    assert [after - before for before, after in pairwise(step_cycles(bench))] == [5, 2, 2, 1]


def test_change_of_the_conflict_signature_costs_one_cycle():
    params = replace(SMALL, trap_depth=3)  # from 3 on the FIFO takes a record a cycle
    writes = conflict_writes(params, [0x40, 0x80])
    bench = run(params, [ON, WATCH, *writes, load(0x40), store(0x80), load(0xC0)])
    intervals = [after - before for before, after in pairwise(step_cycles(bench))]
    assert intervals == [1, 1, *[2] * len(writes), 1, 1]
    assert [step.traps for _, step in bench.steps][-3:-1] == [1, 1]


# Blocks ------------------------------------------------------------------------------------


def test_block_ends_in_the_middle_of_an_access():
    """The access has five granules; the third has a USB value for which there is no place."""
    params = replace(SMALL, lsb_bits=4, usb_limit=1)
    bench = run(params, [ON, store(0x0FA, 16, instructions=3), SYNC])
    step = bench.steps[1][1]
    assert (step.sent, step.cause, step.counter, step.write_values) == (1, Cause.FULL, 0, 1)
    assert [len(block.write.usb) for block in bench.golden.blocks] == [1, 1]


def test_limit_after_an_access_that_does_not_fit():
    """Its instructions belonged to the block that it ended: the new one begins with 0."""
    params = replace(SMALL, usb_limit=1, block_instructions=10)
    bench = run(params, [ON, load(0), load(1 << 20, instructions=30), load(1 << 20), SYNC])
    assert [step.counter for _, step in bench.steps] == [0, 1, 0, 1, 0]


def test_counter_stays_at_its_largest_value():
    """Ops that cannot end a block count all the same; the first that can ends it."""
    events = [ON, *[CoreEvent(OP.MODE, instructions=4095)] * 4, instructions(0)]
    bench = run(SMALL, events)
    largest = (1 << SMALL.counter_bits) - 1
    assert [step.counter for _, step in bench.steps] == [0, 4095, 8190, largest, largest, 0]


def test_empty_blocks_are_not_sent():
    events = [ON, SYNC, instructions(60), CoreEvent(OP.SWITCH_OUT), instructions(1)]
    bench = run(SMALL, events)
    causes = [step.cause for _, step in bench.steps]
    assert causes == [Cause.NONE, Cause.SYNC, Cause.LIMIT, Cause.SWITCH, Cause.NONE]
    assert not bench.flits


def test_message_has_the_timestamp_before_the_synchronisation():
    events = [ON, CoreEvent(OP.TS_WRITE, 5, index=1), store(0), SYNC, store(0), SYNC]
    bench = run(SMALL, events)
    assert [block.timestamp for block in bench.golden.blocks] == [(0, 5, 0), (1, 5, 0)]


@pytest.mark.parametrize("op", [OP.TS_WRITE, OP.SWITCH_IN, OP.RESET, OP.SYNC_REACHED])
def test_event_right_after_the_limit_does_not_touch_the_block(op):
    """The block leaves while the next event takes effect, with timestamp and thread before it."""
    bench = run(SMALL, [ON, store(0x40, instructions=50), CoreEvent(op, 7, index=2), load(0), SYNC])
    assert bench.steps[1][1].cause == Cause.LIMIT


# Waiting -----------------------------------------------------------------------------------


def test_busy_compressor_stalls_events_and_loses_nothing():
    """Nobody takes flits for a while: one block is in the compressor, one ends, events wait."""
    params = replace(SMALL, threads=8)
    bench = CoreUnitBench(params)
    events = [ON] + [store(4 * number, instructions=50) for number in range(20)]

    async def testbench(ctx):
        ctx.set(bench.dut.i_core, bench.core)
        for event in events:
            await put(ctx, bench.dut.i_event, bench.pack(event))
        while not ctx.get(bench.dut.o_idle):
            await ctx.tick()

    async def late_reader(ctx):
        for _ in range(200):
            await ctx.tick()
        assert len(bench.taken) < 10
        assert not ctx.get(bench.dut.i_event.ready)
        assert not ctx.get(bench.dut.o_idle)
        while True:
            await get(ctx, bench.dut.o_message)

    bench.simulate(testbench, drains=["trap"], background=[late_reader])
    bench.check(events)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_full_trap_queue_stalls_accesses_but_not_the_block_before(depth):
    """A block that has reached its limit leaves although the next access waits."""
    params = replace(SMALL, trap_depth=depth)
    bench = CoreUnitBench(params)
    watched = conflict_writes(params, [0x40])
    # The last of the records that have a place comes with the block's end.
    hits = [load(0x40)] * (depth - 1) + [load(0x40, instructions=50)]
    events = [ON, WATCH, *watched, *hits, store(0x40), store(0x44)]

    async def testbench(ctx):
        ctx.set(bench.dut.i_core, bench.core)
        for event in events:
            await put(ctx, bench.dut.i_event, bench.pack(event))
        for _ in range(100):
            await ctx.tick()
        assert len(bench.steps) == len(events) - 2
        assert len(bench.golden_flits(events[:-2])) == len(bench.flits)
        for _ in range(depth + 1):
            await get(ctx, bench.dut.o_trap)
        while not ctx.get(bench.dut.o_idle):
            await ctx.tick()
        await ctx.tick()

    bench.simulate(testbench, drains=["message"])
    bench.check(events)


def test_idle_says_that_no_message_is_under_way():
    """A block that has not ended does not count, nor do trap records."""
    bench = CoreUnitBench(SMALL)
    events = [ON, WATCH, *conflict_writes(SMALL, [0x40]), load(0x40)]

    async def testbench(ctx):
        assert ctx.get(bench.dut.o_idle)
        for event in events:
            await put(ctx, bench.dut.i_event, bench.pack(event))
        assert not ctx.get(bench.dut.o_idle)
        for _ in range(8):
            await ctx.tick()
        assert ctx.get(bench.dut.o_idle)
        assert ctx.get(bench.dut.o_trap.valid)
        await put(ctx, bench.dut.i_event, bench.pack(SYNC))
        while not ctx.get(bench.dut.o_idle):
            await ctx.tick()
        await ctx.tick()
        flits = len(bench.flits)
        assert flits == len(bench.golden_flits([*events, SYNC]))
        for _ in range(50):
            await ctx.tick()
        assert len(bench.flits) == flits

    bench.simulate(testbench, drains=["message"])
