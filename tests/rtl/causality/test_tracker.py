"""Tracker: packets and markers, answers, wraps, rate, and planted bugs."""

import random

import pytest

from racetrap.golden_model.causality.packets import HELD, ResumeKind, Transaction
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


@pytest.mark.parametrize("others", [0, 0.3])
@pytest.mark.parametrize("clock_bits", [3, 4])
def test_clocks_begin_anew_before_they_wrap(clock_bits, others):
    params = _params(blocks_per_sm=3, warps_per_sm=3, clock_bits=clock_bits)
    bench = _check(params, f"wrap {clock_bits}", others=others)
    held = [told for kind, told, _ in bench.waited if kind == HELD]
    assert len(held) > 10
    assert bool(others) == (ResumeKind.HOLD in held)
    pending = {kind for kind, _, wraps in bench.waited if wraps}
    assert not others or len(pending) > 3


def _check_epoch_of_another_sm(warps, tracker=Tracker):
    """While another SM's clock is the last one only accesses leave; told to hold, nothing does."""
    params = _params(warps_per_sm=warps, blocks_per_sm=1)
    dut, got, told = tracker(params), [], []
    words = [
        params.transaction_layout.pack(Transaction(kind, warps=1)._asdict())
        for kind in (KIND.STORE, KIND.STORE, KIND.BLOCK_START, KIND.STORE)
    ]

    async def ticks(ctx, count=2 * warps + 6):
        for _ in range(count):
            await ctx.tick()

    async def tell(ctx, kind, **values):
        await put(ctx, dut.i_resume, resume(params, kind=kind, **values))
        await ticks(ctx)

    def clocks():
        return [params.marker_layout.unpack(word)["clock"] for word in told]

    async def testbench(ctx):
        await tell(ctx, ResumeKind.FULL)
        ctx.set(dut.i_enable, 1)
        await ticks(ctx)
        assert (len(got), len(told)) == (3, 1)
        assert params.marker_layout.unpack(told[0])["kind"] == HELD
        await tell(ctx, ResumeKind.HOLD)
        assert (len(got), ctx.get(dut.o_idle)) == (3, 0)
        await tell(ctx, ResumeKind.EPOCH)
        assert (len(got), ctx.get(dut.o_idle)) == (4, 0)
        # Behind clocks of 1, not those of 0 that a search before would have found.
        assert clocks()[1:] == [2]
        # A marker that waits stands for one that tells that the SM holds.
        await tell(ctx, ResumeKind.HOLD)
        await tell(ctx, ResumeKind.EPOCH)
        assert (len(got), len(told)) == (4, 2)
        await tell(ctx, ResumeKind.WARP)
        assert params.packet_layout.unpack(got[-1])["clock"] == 2
        assert ctx.get(dut.o_idle)
        await tell(ctx, ResumeKind.HOLD)
        assert (len(got), len(told), ctx.get(dut.o_idle)) == (6, 3, 0)
        await tell(ctx, ResumeKind.EPOCH)
        assert ctx.get(dut.o_idle)

    async def late(ctx):
        while not ctx.get(dut.i_enable):
            await ctx.tick()
        await put_all(dut.i_transaction, words)(ctx)

    simulate(
        dut, testbench,
        background=[late, get_forever(dut.o_packet, got), get_forever(dut.o_marker, told)],
    )  # fmt: skip


@pytest.mark.parametrize("warps", [1, 4])
def test_an_epoch_of_another_sm(warps):
    _check_epoch_of_another_sm(warps)


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
    "marker-when-a-clock-could-wrap": Patch(_TRACKER, "(is_full | warps.o_full)", "is_full"),
    "clock-of-another-sm-forgotten": Patch(_TRACKER, "(is_full | warps.o_full)", "warps.o_full"),
    "does-not-hold": Patch(_TRACKER, "is_stopped | (is_other & (is_full | warps.o_full))",
        "is_other & (is_full | warps.o_full)"),
    "held-for-ever": Patch(
        _TRACKER, "is_full.eq(0), is_stopped.eq(0), is_held.eq(0)",
        "is_full.eq(0), is_stopped.eq(0)",
    ),
    "sends-while-it-holds": Patch(
        _TRACKER, "packet.i.ready & ~waits & ~is_held & ~warps.o_busy",
        "packet.i.ready & ~waits & ~warps.o_busy",
    ),
    "block-begins-before-the-epoch": Patch(_TRACKER, "epoch & waits & is_start", "0"),
    "packet-without-its-marker": Patch(_TRACKER, "(marker.i.ready | ~is_told)", "1"),
    "resume-while-warps-begin": Patch(
        _TRACKER, "~start.o_begins & ~warps.o_busy & (", "~warps.o_busy & ("
    ),
    "resume-of-one-warp-is-enough": Patch(
        _TRACKER, "self._resumes & self.i_resume.payload.is_last", "self._resumes"
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
    with pytest.raises((AssertionError, IndexError, TimeoutError, ValueError)):  # noqa: PT012
        _check_epoch_of_another_sm(4, tracker)
        _check(params, "bugs", tracker=tracker, others=0.2)


def test_no_ready_depends_on_a_valid():
    assert not valid_to_ready_paths(Tracker(CausalityParams(sm_count=2)))
