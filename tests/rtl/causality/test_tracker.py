"""Tracker: packets and markers, answers, wraps, rate, and planted bugs."""

import random

import pytest

from racetrap.golden_model.causality.packets import Transaction
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.tracker import Tracker
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.tracker_bench import KIND, TrackerBench, random_transactions, resume
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_forever, pulse, put, put_all, simulate


def _params(**settings):
    return CausalityParams(**{"sm_count": 2, "address_bits": 20, "pc_bits": 8, **settings})


def _check(params, seed, count=300, **settings):
    transactions = random_transactions(params, random.Random(seed), count)
    bench = TrackerBench(params, seed, **settings)
    bench.run(transactions)
    bench.check(transactions)
    return bench


@pytest.mark.parametrize(("blocks", "warps"), [(1, 1), (3, 3), (2, 4), (4, 5)])
def test_packets_and_markers_are_the_golden_ones(blocks, warps):
    _check(_params(blocks_per_sm=blocks, warps_per_sm=warps), f"{blocks} {warps}", sm=1)


@pytest.mark.parametrize("clock_bits", [3, 4])
def test_clocks_begin_anew_before_they_wrap(clock_bits):
    params = _params(blocks_per_sm=3, warps_per_sm=3, clock_bits=clock_bits)
    assert _check(params, f"wrap {clock_bits}").wraps > 10


@pytest.mark.parametrize("warps", [1, 4])
def test_full_and_epoch_of_another_sm_count(warps):
    """While another SM's clock is the last one only accesses leave; held, nothing does."""
    params = _params(warps_per_sm=warps, blocks_per_sm=1)
    dut, got, told = Tracker(params), [], []
    words = [
        params.transaction_layout.pack(Transaction(kind, warps=1)._asdict())
        for kind in (KIND.STORE, KIND.STORE, KIND.BLOCK_START, KIND.STORE)
    ]

    async def ticks(ctx, count=2 * warps + 6):
        for _ in range(count):
            await ctx.tick()

    async def testbench(ctx):
        ctx.set(dut.i_enable, 1)
        ctx.set(dut.i_hold, 1)
        await ticks(ctx)
        assert not got
        assert (ctx.get(dut.o_drained), ctx.get(dut.o_idle)) == (1, 0)
        ctx.set(dut.i_full, 1)
        ctx.set(dut.i_hold, 0)
        await ticks(ctx)
        assert (len(got), len(told)) == (2, 0)
        assert (ctx.get(dut.o_wrap), ctx.get(dut.o_drained), ctx.get(dut.o_full)) == (1, 1, 0)
        await pulse(ctx, dut.i_epoch)
        await ticks(ctx)
        ctx.set(dut.i_full, 0)
        await ticks(ctx)
        assert (len(got), ctx.get(dut.o_drained)) == (3, 0)
        # Behind clocks of 1, not those of 0 that a search before would have found.
        assert [params.marker_layout.unpack(word)["clock"] for word in told] == [2]
        await put(ctx, dut.i_resume, resume(params))
        await ticks(ctx)
        assert params.packet_layout.unpack(got[-1])["clock"] == 2
        assert ctx.get(dut.o_idle)

    simulate(
        dut, testbench,
        background=[
            put_all(dut.i_transaction, words), get_forever(dut.o_packet, got),
            get_forever(dut.o_marker, told),
        ],
    )  # fmt: skip


def test_one_packet_a_cycle_and_a_lone_fence():
    params = _params()
    accesses = [Transaction(KIND.STORE, word=word) for word in range(20)]
    bench = TrackerBench(params)
    bench.run([*accesses, Transaction(KIND.IF, lanes=1), *accesses, Transaction(KIND.FENCE)])
    cycles = [cycle for cycle, _ in bench.packets]
    assert cycles == list(range(cycles[0], cycles[0] + 42))
    # Taken, held, at both outputs.
    assert bench.packets[-1][0] == bench.markers[-1][0] == bench.taken[-1][0] + 2


def test_clear_forgets_warps_and_blocks():
    params = _params(blocks_per_sm=2, warps_per_sm=2)
    dut, got, told = Tracker(params), [], []
    pack = params.transaction_layout.pack
    words = [pack(Transaction(KIND.BLOCK_START, slot=1, warps=warps)._asdict()) for warps in (2, 1)]
    words += [
        pack(Transaction(kind, warp=0)._asdict())
        for kind in (KIND.FENCE, KIND.IF, KIND.STORE)
    ]  # fmt: skip

    async def testbench(ctx):
        ctx.set(dut.i_enable, 1)
        for _ in range(2):
            await put_all(dut.i_transaction, words)(ctx)
            while not ctx.get(dut.o_idle):
                await ctx.tick()
            await ctx.tick()
            await pulse(ctx, dut.i_clear)
            while ctx.get(dut.o_busy):
                await ctx.tick()

    async def collector(ctx):
        while True:
            await put(ctx, dut.i_resume, resume(params, clock=3))

    simulate(
        dut, testbench,
        background=[
            collector, get_forever(dut.o_packet, got), get_forever(dut.o_marker, told),
        ],
    )  # fmt: skip
    assert (len(got), got[:5], told[:4]) == (10, got[5:], told[4:])
    assert [params.marker_layout.unpack(word)["clock"] for word in told[:4]] == [1, 2, 2, 3]


def test_disabled_tracker_takes_and_ignores():
    params = _params()
    dut = Tracker(params)

    async def testbench(ctx):
        word = params.transaction_layout.pack(Transaction(KIND.FENCE)._asdict())
        await put_all(dut.i_transaction, [word] * 4)(ctx)
        for _ in range(4):
            await ctx.tick()
            assert not ctx.get(dut.o_packet.valid)
            assert not ctx.get(dut.o_marker.valid)
        assert ctx.get(dut.o_idle)

    simulate(dut, testbench)


_TRACKER, _STATES = "causality/tracker.py", "causality/warp_states.py"
_BUGS = {
    "accesses-do-not-wait": Patch(
        _TRACKER, "~holds | (leaves & ~is_answered)", "~holds | leaves"
    ),
    "clock-before-a-branch": Patch(
        _TRACKER, '"clock": warps.i_state.clock', '"clock": warps.o_state.clock'
    ),
    "acquire-releases": Patch(_TRACKER, "transaction.order != FenceOrder.ACQUIRE", "1"),
    "device-bit-is-lost": Patch(_TRACKER, "state.released_device | releases", "releases"),
    "start-of-a-block-resumes-a-warp": Patch(
        _TRACKER, "(kind == kinds.BLOCK_START) | (kind == kinds.BLOCK_END)",
        "kind == kinds.BLOCK_END",
    ),
    "marker-when-a-clock-could-wrap": Patch(_TRACKER, "(self.i_full | warps.o_full)", "0"),
    "packet-without-its-marker": Patch(_TRACKER, "(marker.i.ready | ~is_told)", "1"),
    "resume-while-warps-begin": Patch(_TRACKER, "waits & ~start.o_begins", "waits"),
    "resume-of-one-warp-is-enough": Patch(
        _TRACKER, "self.i_resume.ready & self.i_resume.payload.is_last", "self.i_resume.ready"
    ),
    "block-before-is-forgotten": Patch(
        _STATES, "self.i_warps | (read.data & had)", "self.i_warps"
    ),
    "first-clock-of-the-last-warp": Patch(_STATES, " & (self.i_clock > latest)", ""),
    "other-warps-begin-too": Patch(_STATES, "self.o_write.eq(takes)", "self.o_write.eq(1)"),
    "epoch-forgets-releases": Patch(_STATES, "clears.eq(self.i_clear)", "clears.eq(1)"),
    "last-clock-is-one-late": Patch(
        _STATES, ">= self._params.last_clock", "> self._params.last_clock"
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    """Random transactions find each; without a bug they pass, in the tests above."""
    tracker = modules_with([_STATES, _TRACKER], _BUGS[bug])[_TRACKER].Tracker
    params = _params(blocks_per_sm=3, warps_per_sm=4, clock_bits=4)
    with pytest.raises((AssertionError, IndexError, TimeoutError, ValueError)):
        _check(params, "bugs", tracker=tracker)


def test_no_ready_depends_on_a_valid():
    assert not valid_to_ready_paths(Tracker(CausalityParams(sm_count=2)))
