"""Tracker step by step against the golden tracker, and its timing."""

import random

import pytest

from racetrap.generators.structure import StateBits, state_bits
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.tracker import Tracker
from tests.support.campaign import later_but
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import pulse
from tests.support.scord.tracker_bench import (
    ALL_WORDS,
    TrackerBench,
    cas,
    exch,
    fence,
    load,
    random_transactions,
    run,
)

KIND = TransactionKind


@pytest.mark.parametrize("seed", later_but(lambda seed: seed < 2, range(4)))
def test_random_transactions(seed):
    params = ScordParams()
    rng = random.Random(seed)
    run(params, random_transactions(params, rng, 150), sm=rng.randrange(15), seed=f"{seed}")


GEOMETRIES = [
    {name: count}
    for name in ("sm_count", "blocks_per_sm", "warps_per_sm", "lock_table_depth")
    for count in (1, 3, 4, 5)
] + [
    {"granularity": 8},
    {"granularity": 16},
    {"address_bits": 16, "pc_bits": 8},
    {"barrier_id_bits": 2},
    {"slot_generation_bits": 1},
    {"slot_generation_bits": 2, "warps_per_sm": 64, "ratio": 8},
    {"slot_generation_bits": 6, "blocks_per_sm": 3},
    {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "lock_table_depth": 1},
]


@pytest.mark.parametrize(
    "settings",
    later_but(lambda each: len(each) > 1 or not {3, 4} & set(each.values()), GEOMETRIES),
    ids=str,
)
def test_geometries(settings):
    params = ScordParams(**settings)
    rng = random.Random(str(settings))
    run(params, random_transactions(params, rng, 60), sm=params.sm_count - 1, seed=str(settings))


# Clear, enable, reset ----------------------------------------------------------------------


@pytest.mark.parametrize("is_idle", [False, True], ids=["at-once", "idle"])
@pytest.mark.parametrize("warps", [1, 5, 32])
def test_clear_forgets_locks_and_barriers(warps, is_idle):
    params = ScordParams(warps_per_sm=warps, slot_generation_bits=2)
    last = warps - 1
    before = [
        Transaction(KIND.BLOCK_START, mask=1),
        cas(0, warp=last),
        fence(warp=last),
        Transaction(KIND.BARRIER),
        load(last, 0, ALL_WORDS),
    ]
    after = [load(last)]
    bench = TrackerBench(params)
    busy = []

    async def testbench(ctx):
        await bench.play(ctx, before)
        if is_idle:
            await bench.until_idle(ctx)
        await pulse(ctx, bench.dut.i_clear)
        cycles = 0
        while ctx.get(bench.dut.o_busy):
            assert not ctx.get(bench.dut.i_transaction.ready)
            assert not ctx.get(bench.dut.o_idle)
            await ctx.tick()
            cycles += 1
        busy.append(cycles)
        await bench.play(ctx, after)

    bench.simulate(testbench)
    expected = [packet for each in before for packet in bench.model.step(each)]
    bench.model.clear()
    expected += [packet for each in after for packet in bench.model.step(each)]
    assert bench.packets == expected
    last_packet = bench.packets[-1]
    assert (last_packet.filter, last_packet.barrier_id, last_packet.generation) == (0, 0, 0)
    if is_idle:
        assert busy == [warps + 1]


def test_clear_while_a_fence_is_on_its_way():
    """The fence is finished first; what follows it is taken when clearing is over."""
    bench = TrackerBench(ScordParams(warps_per_sm=4))
    transactions = [cas(0), fence(), load()]

    async def testbench(ctx):
        await bench.play(ctx, transactions[:2])
        await pulse(ctx, bench.dut.i_clear)
        await bench.play(ctx, transactions[2:])

    bench.simulate(testbench)
    assert [packet.kind for packet in bench.packets] == [KIND.ATOMIC, KIND.FENCE, KIND.LOAD]
    assert bench.packets[-1].filter == 0
    ((done, _),) = bench.done
    assert bench.taken[-1][0] > done + 4


def test_disabled_tracker_takes_and_ignores():
    bench = TrackerBench(ScordParams())
    ignored = [cas(0), fence(), Transaction(KIND.BARRIER), load(0, 0, ALL_WORDS), fence()]
    kept = [cas(1), fence(), load()]

    async def testbench(ctx):
        ctx.set(bench.dut.i_enable, 0)
        await bench.play(ctx, ignored)
        assert ctx.get(bench.dut.o_idle)
        ctx.set(bench.dut.i_enable, 1)
        await bench.play(ctx, kept)

    bench.simulate(testbench)
    cycles = [cycle for cycle, _ in bench.taken[: len(ignored)]]
    assert cycles == list(range(cycles[0], cycles[0] + len(ignored)))
    assert bench.packets == [packet for each in kept for packet in bench.model.step(each)]


# Timing and structure ----------------------------------------------------------------------


def test_one_packet_a_cycle():
    """Full and single-word transactions, and atomics of one warp that lock in each word."""
    transactions = [
        load(0, 0, ALL_WORDS),
        load(mask=1),
        load(mask=2),
        cas(*range(8)),
        exch(*range(8)),
        cas(3),
        exch(3),
        load(0, 0, ALL_WORDS),
    ]
    bench = run(ScordParams(), transactions)
    words = sum(each.mask.bit_count() for each in transactions)
    first = bench.left[0][0]
    assert [cycle for cycle, _ in bench.left] == list(range(first, first + words))
    assert first - bench.taken[0][0] == 3


def test_sixty_four_warps_of_the_last_sm():
    params = ScordParams(sm_count=144, blocks_per_sm=32, warps_per_sm=64, ratio=8)
    locks = [cas(0, warp=warp, slot=31) for warp in (31, 32, 63)]
    fences = [fence(warp=warp) for warp in (31, 32, 63)]
    start = Transaction(KIND.BLOCK_START, slot=31, mask=1 << 31, lock_mask=1 << 31)
    loads = [load(warp=warp) for warp in (31, 32, 63)]
    bench = run(params, [*locks, *fences, *loads, start, *loads], sm=143)
    assert [bool(packet.filter) for packet in bench.packets[-3:]] == [False, True, False]


def test_barrier_and_block_start_take_their_cycles():
    """A barrier takes one cycle of the pipeline, a block's start one for each warp."""
    start = Transaction(KIND.BLOCK_START, mask=0b10110)
    bench = run(ScordParams(), [load(), Transaction(KIND.BARRIER), load(), start, load()])
    first = bench.left[0][0]
    assert [cycle - first for cycle, _ in bench.left] == [0, 2, 6]


def test_fence_delays_its_own_warp_only():
    """Fences of other warps, accesses of theirs and barriers of other blocks are taken at once."""
    others = [fence(warp=1, slot=1), load(warp=2), Transaction(KIND.BARRIER, slot=2), fence(warp=3)]
    own = [load(), Transaction(KIND.BARRIER, slot=1), fence(warp=3)]
    bench = run(ScordParams(), [fence(), *others, *own])
    taken = [cycle for cycle, _ in bench.taken]
    assert taken[:5] == list(range(taken[0], taken[0] + 5))
    done = [cycle for cycle, _ in bench.done]
    assert [taken[5], taken[6], taken[7]] == [done[0] + 1, done[1] + 1, done[2] + 1]


def test_not_idle_until_a_fence_is_done():
    bench = TrackerBench(ScordParams())
    bench.fence_cycles = 9
    cycles = []

    async def testbench(ctx):
        await bench.play(ctx, [fence()])
        assert ctx.get(bench.dut.o_fencing) == 1
        while not ctx.get(bench.dut.o_idle):
            await ctx.tick()
            cycles.append(ctx.get(bench.dut.o_fencing))

    bench.simulate(testbench)
    assert len(bench.packets) == len(bench.done) == 1
    assert cycles == [1] * (len(cycles) - 1) + [0]
    assert len(cycles) > 9


@pytest.mark.parametrize("settings", [{}, {"granularity": 16, "warps_per_sm": 1}], ids=str)
def test_no_path_from_valid_to_ready(settings):
    assert valid_to_ready_paths(Tracker(ScordParams(**settings))) == []


def test_generations_take_their_bits_and_no_more():
    with_bits, without = (
        state_bits(Tracker(ScordParams(slot_generation_bits=bits))) for bits in (6, 0)
    )
    assert with_bits["top.generations"] == StateBits(flip_flops=48)
    for name in without:
        assert "generation" not in name


def test_state_is_the_papers():
    """Section IV-C: 32 lock tables of 36 bits, and 64 bits of barrier ids, for each SM."""
    bits = state_bits(Tracker(ScordParams()))
    assert bits["top.lock_tables"].memory_bits == 32 * 36
    assert bits["top.barrier_ids"] == StateBits(flip_flops=64)
    assert (32 * 36 + 64) // 8 == 152
