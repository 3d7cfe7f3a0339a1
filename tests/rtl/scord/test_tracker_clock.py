"""A tracker says when it stands still, so that its clock may stop."""

import random

import pytest
from amaranth.hdl import Const, EnableInserter, Module

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.tracker import Tracker
from tests.support.campaign import later_but
from tests.support.rtl.streams import simulate
from tests.support.scord.tracker_bench import random_transactions

_CYCLES = 2_000


def _inputs(params, rng):
    """Inputs of each cycle; busy and quiet times take turns, and offers need not last."""
    for cycle, transaction in enumerate(random_transactions(params, rng, _CYCLES)):
        offers = 0.02 if cycle // 100 % 2 else 0.9
        yield {
            "payload": params.transaction_layout.pack(transaction._asdict()),
            "valid": rng.random() < offers,
            "ready": rng.random() < 0.2,
            "enable": rng.random() < 0.95,
            "clear": rng.random() < 0.005,
            "fenced": rng.getrandbits(4) & rng.getrandbits(4) & rng.getrandbits(4),
        }


def _set(ctx, tracker, inputs):
    ctx.set(tracker.i_transaction.payload.as_value(), inputs["payload"])
    ctx.set(tracker.i_transaction.valid, inputs["valid"])
    ctx.set(tracker.o_packet.ready, inputs["ready"])
    ctx.set(tracker.i_enable, inputs["enable"])
    ctx.set(tracker.i_clear, inputs["clear"])
    ctx.set(tracker.i_fenced, inputs["fenced"])


def _outputs(ctx, tracker):
    signals = (
        tracker.i_transaction.ready, tracker.o_packet.valid, tracker.o_packet.payload.as_value(),
        tracker.o_busy, tracker.o_idle, tracker.o_quiescent, tracker.o_fencing,
    )  # fmt: skip
    return [ctx.get(signal) for signal in signals]


@pytest.mark.parametrize("seed", later_but(lambda seed: seed == 0, range(3)))
def test_clock_may_stop(seed):
    """A tracker whose flip-flops and memories are held while it is still does the same."""
    params = ScordParams(sm_count=2, warps_per_sm=4)
    rng = random.Random(f"still {seed}")
    free, gated = Tracker(params), Tracker(params)
    m = Module()
    m.submodules.free = free
    m.submodules.gated = EnableInserter({"sync": ~gated.o_quiescent})(gated)
    still = {"waits": 0, "sleeps": 0}

    async def testbench(ctx):
        for tracker in (free, gated):
            ctx.set(tracker.i_sm, 1)
            ctx.set(tracker.i_block_masks, Const.cast(block_masks_of(params, 1)).value)
        for cycle, inputs in enumerate(_inputs(params, rng)):
            _set(ctx, free, inputs)
            _set(ctx, gated, inputs)
            assert _outputs(ctx, gated) == _outputs(ctx, free), f"seed {seed}, cycle {cycle}"
            if ctx.get(free.o_quiescent):
                still["sleeps" if ctx.get(free.o_idle) else "waits"] += 1
            await ctx.tick()

    simulate(m, testbench)
    assert min(still.values()) > _CYCLES // 10, still
