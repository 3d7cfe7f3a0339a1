"""Fence file against the golden one: lookups and fences in every cycle."""

import random
from functools import partial

import pytest

from racetrap.generators.structure import state_bits
from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.fence_file import FenceFile as GoldenFile
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.fence_file import FenceFile
from tests.support.rtl.streams import pulse, simulate

TINY = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4)


def _set_warp(ctx, params, port, warp):
    ctx.set(port.sm, params.sm_of_block(warp[0]))
    ctx.set(port.warp, warp[1])


def _pairs(ctx, dut):
    return [(ctx.get(each.blk), ctx.get(each.dev)) for each in (dut.o_own, dut.o_owner)]


async def play(ctx, dut, model, params, lookups, is_late=lambda: False):
    """One lookup a cycle: (own, owner, scope of the fence or None), pipelined; checks answers.

    A late owner comes a cycle after another warp was given for it.
    """
    waiting = answered = None
    late = False
    for lookup in [*lookups, None, None]:
        ctx.set(dut.i_late, late)
        if late:
            _set_warp(ctx, params, dut.i_late_owner, waiting[1])
            blk, dev = model.read(*waiting[1])
            ctx.set(dut.i_late_counters.blk, blk)
            ctx.set(dut.i_late_counters.dev, dev)
        late = bool(lookup) and is_late()
        if lookup:
            for own in dut.i_own:
                _set_warp(ctx, params, own, lookup[0])
            _set_warp(ctx, params, dut.i_owner, lookup[0] if late else lookup[1])
        fence = answered and answered[2]
        lane = params.sm_of_block(answered[0][0]) % params.fence_lanes if answered else 0
        ctx.set(dut.i_fence, (fence is not None) << lane)
        ctx.set(dut.i_scope, (fence or 0) << lane)
        if answered:
            # The owner's counters are those before a fence in this very cycle.
            owner = model.read(*answered[1])
            if fence is not None:
                model.fence(*answered[0], fence)
            assert _pairs(ctx, dut) == [model.read(*answered[0]), owner]
        await ctx.tick()
        waiting, answered = lookup, waiting
    ctx.set(dut.i_fence, 0)


def random_lookups(params, rng, count, fences=0.6):
    """Few warps, so that fences and lookups of one warp follow each other closely."""

    def warp():
        sm, slot = rng.randrange(params.sm_count), rng.randrange(params.blocks_per_sm)
        return params.block_id(sm, slot), rng.randrange(params.warps_per_sm)

    warps = [warp() for _ in range(3)]
    return [
        (
            rng.choice(warps),
            rng.choice(warps),
            rng.getrandbits(1) if rng.random() < fences else None,
        )
        for _ in range(count)
    ]


def run(params, lookups, is_late=lambda: False):
    dut, model = FenceFile(params), GoldenFile(params)
    simulate(
        dut,
        partial(play, dut=dut, model=model, params=params, lookups=lookups, is_late=is_late),
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fence_id_bits": 2},
        *(
            {name: count}
            for name in ("sm_count", "blocks_per_sm", "warps_per_sm")
            for count in (1, 3, 4, 5)
        ),
        {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1},
        {"sm_count": 2, "fence_lanes": 2},
        {"sm_count": 5, "fence_lanes": 4},
    ],
    ids=str,
)
def test_random_lookups_and_fences(settings):
    params = ScordParams(**settings)
    rng = random.Random(str(settings))
    lookups = random_lookups(params, rng, 300)
    run(params, lookups)
    run(params, lookups, is_late=lambda: rng.random() < 0.5)


def test_a_fence_in_each_lane():
    """All at once, again and again; owners looked up meanwhile see every fence."""
    params = ScordParams(sm_count=6, blocks_per_sm=1, warps_per_sm=2, fence_lanes=4)
    dut, model, rng = FenceFile(params), GoldenFile(params), random.Random(4)

    def fences():
        return [
            (rng.randrange(lane, params.sm_count, 4), rng.randrange(2), rng.getrandbits(1))
            if rng.random() < 0.7
            else None
            for lane in range(4)
        ]

    async def testbench(ctx):
        waiting = answered = None
        for _ in range(300):
            given = fences(), (rng.randrange(params.sm_count), rng.randrange(2))
            for own, fence in zip(dut.i_own, given[0], strict=True):
                if fence:
                    _set_warp(ctx, params, own, (params.block_id(fence[0], 0), fence[1]))
            _set_warp(ctx, params, dut.i_owner, (params.block_id(given[1][0], 0), given[1][1]))
            now = answered[0] if answered else [None] * 4
            ctx.set(dut.i_fence, sum(bool(fence) << lane for lane, fence in enumerate(now)))
            ctx.set(dut.i_scope, sum(fence[2] << lane for lane, fence in enumerate(now) if fence))
            if answered:
                owner = model.read(params.block_id(answered[1][0], 0), answered[1][1])
                assert (ctx.get(dut.o_owner.blk), ctx.get(dut.o_owner.dev)) == owner
            for lane, fence in enumerate(now):
                if fence:
                    block = params.block_id(fence[0], 0)
                    model.fence(block, fence[1], fence[2])
                    after = ctx.get(dut.o_fenced[lane].blk), ctx.get(dut.o_fenced[lane].dev)
                    assert after == model.read(block, fence[1])
            await ctx.tick()
            waiting, answered = given, waiting

    simulate(dut, testbench)


@pytest.mark.parametrize("gap", range(4))
@pytest.mark.parametrize("scope", list(Scope))
def test_fence_is_seen_by_later_lookups(scope, gap):
    """Of both ports, in the next cycle and after."""
    warp, other = (0, 1), (1, 2)
    lookups = [(warp, warp, scope), *[(other, other, None)] * gap, (warp, warp, None)]
    run(TINY, lookups * 3)


def test_blocks_of_an_sm_share_warp_slots():
    blocks = [TINY.block_id(1, slot) for slot in range(2)]
    run(TINY, [((blocks[0], 3), (blocks[1], 3), 1), ((blocks[1], 3), (blocks[0], 3), None)] * 2)


def test_counters_wrap():
    params = ScordParams(sm_count=1, blocks_per_sm=1, warps_per_sm=2, fence_id_bits=3)
    lookups = [((0, 1), (0, 1), scope) for scope in Scope for _ in range(8)]
    run(params, [*lookups, ((0, 1), (0, 1), None)])


@pytest.mark.parametrize("settings", [{}, {"warps_per_sm": 3}, {"sm_count": 1}], ids=str)
def test_clear(settings):
    params = ScordParams(**({"sm_count": 3, "blocks_per_sm": 1, "warps_per_sm": 4} | settings))
    dut, model = FenceFile(params), GoldenFile(params)
    warps = [
        (params.block_id(sm, 0), warp)
        for sm in range(params.sm_count)
        for warp in range(params.warps_per_sm)
    ]

    async def testbench(ctx):
        await play(
            ctx, dut, model, params, [(warp, warp, scope) for warp in warps for scope in Scope]
        )
        await pulse(ctx, dut.i_clear)
        cycles = 0
        while ctx.get(dut.o_busy):
            await ctx.tick()
            cycles += 1
        assert cycles == params.sm_count << params.warp_bits
        model.clear()
        await play(ctx, dut, model, params, [(warp, warp, None) for warp in warps])

    simulate(dut, testbench)


def test_size_is_the_papers():
    """Section IV-C: 720 bytes, here in one memory."""
    assert state_bits(FenceFile(ScordParams()))["top.lane_0"].memory_bits == 720 * 8
