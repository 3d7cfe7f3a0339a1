"""Mark keeper: a mark is answered behind all that its bank had before it, and is no load for it."""

import random
from collections import deque

import pytest

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.rtl.causality.notice_order import packets_in_flight
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.streams import simulate

_PARAMS = CausalityParams(
    sm_count=5, blocks_per_sm=2, warps_per_sm=2, outstanding=4, packet_fifo_depth=2,
    report_fifo_depth=2, address_bits=20, pc_bits=16, shared_bytes=0,
)  # fmt: skip


class _Bench:
    """A keeper between SMs, a bank that lets packets go when it likes, and a slow collector.

    ``events`` are packets, marks and notices by number, in the order in which they came or went.
    """

    def __init__(self, seed, keeper=MarkKeeper, packets=0.7, eager=0.7):
        self.dut, self.rng = keeper(_PARAMS), random.Random(seed)
        self.packets, self.eager = packets, eager
        self.bank, self.notices, self.ahead = deque(), deque(), {}
        self.done = self.answered = self.number = 0
        self.waits = []

    def run(self, cycles):
        """So many cycles with packets and marks, then until all is answered."""

        async def testbench(ctx):
            for cycle in range(cycles):
                await self._cycle(ctx, cycle, gives=True)
            for cycle in range(cycles, 2 * cycles):
                if self.bank or self.notices or self.ahead:
                    await self._cycle(ctx, cycle, gives=False)
            assert [*self.bank, *self.notices, *self.ahead] == []
            ctx.set(self.dut.i_leaves, 0)
            ctx.set(self.dut.i_notice.valid, 0)
            await ctx.tick()
            assert ctx.get(self.dut.o_idle)

        simulate(self.dut, testbench)

    async def _cycle(self, ctx, cycle, gives):
        dut, rng = self.dut, self.rng
        free = [sm for sm in range(_PARAMS.sm_count) if sm not in self.ahead]
        is_mark = gives and bool(free) and rng.random() < 0.3
        is_packet = gives and not is_mark and rng.random() < self.packets
        may_take = len(self.bank) < 6 and rng.random() < 0.8
        sm, kind = rng.choice(free or [0]), PacketKind.MARK if is_mark else PacketKind.STORE
        ctx.set(dut.i_packet.valid, is_mark or is_packet)
        ctx.set(dut.i_packet.p.kind, kind)
        ctx.set(dut.i_packet.p.block, _PARAMS.block_id(sm, 1))
        ctx.set(dut.i_packet.p.pc, self.number & 0xFFFF)
        ctx.set(dut.o_packet.ready, may_take)
        goes = bool(self.bank) and self.bank[0][1] <= cycle and len(self.notices) < 4
        is_noticed = goes and rng.random() < 0.4
        ctx.set(dut.i_leaves, goes)
        ctx.set(dut.i_noticed, is_noticed)
        shown = bool(self.notices) and self.notices[0][1] <= cycle
        ctx.set(dut.i_notice.valid, shown)
        ctx.set(dut.i_notice.p.packet.kind, PacketKind.LOAD)
        ctx.set(dut.i_notice.p.packet.pc, self.notices[0][0] & 0xFFFF if shown else 0)
        ctx.set(dut.o_notice.ready, rng.random() < self.eager)
        assert ctx.get(dut.o_packet.valid) == is_packet
        assert ctx.get(dut.i_packet.ready) == (is_mark or may_take)
        self._answer(ctx, cycle, shown)
        if goes:
            number, _ = self.bank.popleft()
            if is_noticed:
                self.notices.append((number, cycle + 2))
        if is_mark:
            before = [number for number, _ in (*self.notices, *self.bank)]
            self.ahead[sm] = set(before), cycle
        if is_packet and may_take:
            assert ctx.get(dut.o_packet.p.pc) == self.number & 0xFFFF
            self.bank.append((self.number, cycle + rng.randrange(3, 12)))
            self.number += 1
        await ctx.tick()

    def _answer(self, ctx, cycle, shown):
        """What the collector is offered, and takes or not."""
        sink = self.dut.o_notice
        if not ctx.get(sink.valid):
            assert not shown
            return
        packet, is_taken = sink.p.packet, ctx.get(sink.ready)
        if ctx.get(packet.kind) != PacketKind.MARK:
            assert ctx.get(packet.pc) == self.notices[0][0] & 0xFFFF
            if is_taken:
                self.notices.popleft()
            return
        sm = _PARAMS.sm_of_block(ctx.get(packet.block))
        before, since = self.ahead[sm]
        waits = {number for number, _ in (*self.bank, *self.notices)} & before
        assert not waits, f"Mark of SM {sm} must come behind {sorted(waits)}"
        if is_taken:
            del self.ahead[sm]
            self.answered += 1
            self.waits.append(cycle - since)


@pytest.mark.parametrize("seed", later_but((0).__eq__, range(6)))
def test_marks_are_answered_behind_all_before_them(seed):
    bench = _Bench(seed)
    bench.run(600)
    assert bench.answered > 50
    assert bench.number > 150


def test_a_mark_at_an_idle_bank_is_answered_in_the_next_cycle():
    bench = _Bench("idle", packets=0, eager=1)
    bench.run(40)
    assert set(bench.waits) == {1}


def _check_limits(keeper):
    """As many packets as may be in flight; a notice that comes before it is known; one more."""
    dut, most = keeper(_PARAMS), packets_in_flight(_PARAMS)

    async def testbench(ctx):
        ctx.set(dut.o_packet.ready, 1)
        ctx.set(dut.i_packet.valid, 1)
        for _ in range(most):
            assert ctx.get(dut.o_packet.valid)
            await ctx.tick()
        assert (ctx.get(dut.o_packet.valid), ctx.get(dut.i_packet.ready)) == (0, 0)
        ctx.set(dut.i_notice.valid, 1)
        ctx.set(dut.o_notice.ready, 1)
        for is_known in (0, 1):
            assert ctx.get(dut.o_notice.valid) == ctx.get(dut.i_notice.ready) == is_known
            assert not ctx.get(dut.o_packet.valid)
            ctx.set(dut.i_leaves, not is_known)
            ctx.set(dut.i_noticed, not is_known)
            await ctx.tick()
        assert ctx.get(dut.o_packet.valid)

    simulate(dut, testbench)


def test_packets_in_flight_are_limited_and_an_early_notice_waits():
    _check_limits(MarkKeeper)


def test_packets_behind_a_mark_that_waits_do_not_hide_the_next_one():
    """So many that their number could wrap, while the collector takes nothing."""
    dut, marks = MarkKeeper(_PARAMS), []

    async def testbench(ctx):
        ctx.set(dut.o_packet.ready, 1)
        ctx.set(dut.i_packet.valid, 1)
        for cycle in range(60):
            kind = PacketKind.MARK if cycle < 2 else PacketKind.STORE
            ctx.set(dut.i_packet.p.kind, kind)
            ctx.set(dut.i_packet.p.block, _PARAMS.block_id(cycle % 2, 0))
            enters = ctx.get(dut.o_packet.valid)
            await ctx.tick()
            # The bank checks each at once.
            ctx.set(dut.i_leaves, enters)
        ctx.set(dut.i_packet.valid, 0)
        ctx.set(dut.o_notice.ready, 1)
        for _ in range(8):
            if ctx.get(dut.o_notice.valid):
                marks.append(_PARAMS.sm_of_block(ctx.get(dut.o_notice.p.packet.block)))
            await ctx.tick()
            ctx.set(dut.i_leaves, 0)

    simulate(dut, testbench)
    assert marks == [0, 1]


_FILE = "causality/mark_keeper.py"
_BUGS = {
    "mark-ahead-of-packets": Patch(_FILE, "is_counted | ~(left - mark.before)[len(left) - 1]", "1"),
    "mark-ahead-of-notices": Patch(
        _FILE, "has_mark & has_left & ~Mux(is_counted, before, noticed).any()",
        "has_mark & has_left",
    ),
    "mark-goes-to-the-bank": Patch(_FILE, "self.i_packet.valid & ~is_mark", "self.i_packet.valid"),
    "count-of-the-next-mark-stays": Patch(_FILE, "with m.If(goes):", "with m.If(0):"),
    "packets-without-end": Patch(_FILE, "is_full.eq(in_flight == most)", "is_full.eq(0)"),
    "early-notice-passes": Patch(_FILE, "self._noticed.any()", "1"),
    "mark-is-always-idle": Patch(_FILE, "self.o_idle.eq(~has_mark &", "self.o_idle.eq(has_mark &"),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    keeper = modules_with([_FILE], _BUGS[bug])[_FILE].MarkKeeper
    with pytest.raises((AssertionError, KeyError)):  # noqa: PT012, any seed may show it
        for seed in range(4):
            _Bench(seed, keeper).run(600)
        _check_limits(keeper)
