"""Detector bank: launch, idle, dropped reports and throughput."""

import random

import pytest

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from tests.support.campaign import later_but
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.scord.bank_bench import BankBench
from tests.support.scord.bank_packets import a_region, access, random_packets, word_of

TINY = ScordParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8, address_bits=24
)
STORE = PacketKind.STORE

MEMORIES = {
    "at-once": MemoryKnobs(),
    "slow": MemoryKnobs(read_latency=(9, 9), write_latency=(5, 5)),
    "back-pressure": MemoryKnobs(read_latency=(0, 3), write_latency=(0, 3), ready=0.3),
    "errors": MemoryKnobs(
        read_latency=(0, 8), write_latency=(0, 8), reorder=0.5, read_error=0.2, write_error=0.2
    ),
}


@pytest.mark.parametrize("memory", later_but(("back-pressure", "errors").__contains__, MEMORIES))
def test_launch_forgets(memory):
    region = a_region(TINY)
    rng = random.Random(memory)
    bench = BankBench(TINY, region, knobs=MEMORIES[memory], seed=memory)
    packets = [random_packets(TINY, region, rng, 40) for _ in range(2)]
    expected = []

    async def testbench(ctx):
        for some in packets:
            await bench.clear(ctx)
            assert bench.memory.words.keys() == {
                region.metadata_base + 8 * index for index in range(region.entries(TINY))
            }
            assert len(set(bench.memory.words.values())) == 1
            await bench.play(ctx, some)
            await bench.until_idle(ctx)
            steps = [TINY.step_layout.unpack(step) for _, step in bench.traced]
            for packet, one in zip(some, steps[len(expected) :], strict=True):
                step = bench.model.step(packet, bool(one["read_error"]))
                expected.append(step._asdict() | {"packet": packet._asdict()})
            assert steps == expected

    bench.simulate(testbench)


def test_launch_takes_a_cycle_for_each_entry():
    params = ScordParams(outstanding=8, sm_count=1, warps_per_sm=4)
    cycles = []
    for extra in (3, 4):
        region = a_region(params, extra_log2=extra)
        bench = BankBench(params, region)

        async def testbench(ctx, bench=bench):
            cycles.append(await bench.clear(ctx))

        bench.simulate(testbench)
        cycles[-1] -= region.entries(params)
    assert cycles[0] == cycles[1] <= 8


def test_idle_means_everything_is_finished():
    """Once idle, memory has all writes; not idle from the cycle after a packet was taken."""
    region = a_region(TINY)
    bench = BankBench(TINY, region, knobs=MEMORIES["slow"])
    packets = [access(STORE, word_of(TINY, region, index), index % 4) for index in range(3)]
    seen = []

    async def testbench(ctx):
        await bench.clear(ctx)
        for packet in packets:
            assert ctx.get(bench.dut.o_idle)
            await bench.play(ctx, [packet])
            assert not ctx.get(bench.dut.o_idle)
            while not ctx.get(bench.dut.o_idle):
                await ctx.tick()
            seen.append(bench.memory.is_quiet)

    bench.simulate(testbench)
    assert seen == [True] * 3
    bench.check(packets)


def test_reports_are_dropped_not_waited_for():
    params = ScordParams(sm_count=2, outstanding=32)
    region = a_region(params)
    word = word_of(params, region, 0)
    packets = [access(STORE, word, number % 2) for number in range(60)]
    bench = BankBench(params, region, report_ready=0.0)

    async def testbench(ctx):
        await bench.clear(ctx)
        await bench.play(ctx, packets)
        while len(bench.traced) < len(packets):
            await ctx.tick()
        for _ in range(20):
            await ctx.tick()
        assert not ctx.get(bench.dut.o_idle)
        bench.report_ready = 1.0
        await bench.until_idle(ctx)

    bench.simulate(testbench)
    bench.check(packets)
    assert bench.counts["reports_dropped"] == 59 - params.report_fifo_depth
    cycles = [cycle for cycle, _ in bench.traced]
    assert cycles[-1] - cycles[0] == len(packets) - 1


# Throughput ---------------------------------------------------------------------------------


def _span(bench):
    cycles = [cycle for cycle, _ in bench.traced]
    return cycles[-1] - cycles[0] + 1


@pytest.mark.parametrize("entries", later_but((1, 2, 16).__contains__, [1, 2, 3, 4, 5, 16]))
def test_one_packet_a_cycle(entries):
    """With a memory that answers at once: N packets take N cycles, also on one entry."""
    params = ScordParams(sm_count=2, outstanding=32)
    region = a_region(params)
    packets = [
        access(STORE, word_of(params, region, number % entries), number % 3)
        for number in range(200)
    ]
    bench = BankBench(params, region)
    bench.run(packets)
    assert _span(bench) == len(packets)
    assert bench.taken[-1] - bench.taken[0] == len(packets) - 1
    assert bench.counts["stall_cycles"] == 0


@pytest.mark.parametrize("latency", later_but(lambda latency: latency == 10, [4, 10]))
def test_read_channel_is_busy(latency):
    """All misses: the window covers the latencies of read and write."""
    params = ScordParams(sm_count=2, outstanding=32)
    region = a_region(params, extra_log2=5)
    packets = [access(STORE, word_of(params, region, number), number % 3) for number in range(300)]
    knobs = MemoryKnobs(read_latency=(latency, latency), write_latency=(latency, latency))
    bench = BankBench(params, region, knobs=knobs)
    bench.run(packets)
    busy = len(bench.answers) / (bench.answers[-1] - bench.answers[0] + 1)
    print(f"R channel busy {busy:.3f} at latency {latency}, 32 outstanding")
    assert busy >= 0.95
