"""Runs a mark keeper between SMs, a bank and a collector."""

from __future__ import annotations

import random
from collections import deque

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.rtl.causality.notice_order import packets_in_flight
from tests.support.rtl.streams import simulate


class KeeperBench:
    """A keeper between SMs, a bank that lets packets go when it likes, and a slow collector.

    ``events`` are packets, marks and notices by number, in the order in which they came or went.
    """

    def __init__(self, params, seed, keeper=MarkKeeper, packets=0.7, eager=0.7):
        self.params, self.dut, self.rng = params, keeper(params), random.Random(seed)
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
        params, dut, rng = self.params, self.dut, self.rng
        free = [sm for sm in range(params.sm_count) if sm not in self.ahead]
        is_mark = gives and bool(free) and rng.random() < 0.3
        is_packet = gives and not is_mark and rng.random() < self.packets
        may_take = len(self.bank) < 6 and rng.random() < 0.8
        sm, kind = rng.choice(free or [0]), PacketKind.MARK if is_mark else PacketKind.STORE
        ctx.set(dut.i_packet.valid, is_mark or is_packet)
        ctx.set(dut.i_packet.p.kind, kind)
        ctx.set(dut.i_packet.p.block, params.block_id(sm, 1))
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
        sm = self.params.sm_of_block(ctx.get(packet.block))
        before, since = self.ahead[sm]
        waits = {number for number, _ in (*self.bank, *self.notices)} & before
        assert not waits, f"Mark of SM {sm} must come behind {sorted(waits)}"
        if is_taken:
            del self.ahead[sm]
            self.answered += 1
            self.waits.append(cycle - since)


def check_limits(params, keeper):
    """As many packets as may be in flight; a notice that comes before it is known; one more."""
    dut, most = keeper(params), packets_in_flight(params)

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


def check_behind_a_mark(params, keeper, before):
    """As many packets behind a mark as their numbers allow, while the collector takes nothing; a
    bank that checks each at once had some before it."""
    dut, marks, entered = keeper(params), [], 0
    most = (1 << (2 * packets_in_flight(params) + 1).bit_length() - 1) - 1

    async def testbench(ctx):
        nonlocal entered
        ctx.set(dut.o_packet.ready, 1)
        ctx.set(dut.i_packet.valid, 1)
        for cycle in range(-before, 2 * most):
            kind = PacketKind.MARK if cycle in (0, 1) else PacketKind.STORE
            ctx.set(dut.i_packet.p.kind, kind)
            ctx.set(dut.i_packet.p.block, params.block_id(cycle % 2, 0))
            enters = ctx.get(dut.o_packet.valid)
            entered += enters and cycle > 0
            await ctx.tick()
            ctx.set(dut.i_leaves, enters)
        assert entered == most
        ctx.set(dut.i_packet.valid, 0)
        ctx.set(dut.o_notice.ready, 1)
        for _ in range(8):
            if ctx.get(dut.o_notice.valid):
                marks.append(params.sm_of_block(ctx.get(dut.o_notice.p.packet.block)))
            await ctx.tick()
            ctx.set(dut.i_leaves, 0)

    simulate(dut, testbench)
    assert marks == [0, 1]
