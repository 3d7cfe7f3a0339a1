"""Runs a notice order between random banks and a collector.

Banks are queues that let a packet go when they like, with a notice or without.
"""

from __future__ import annotations

import random
from collections import deque

from racetrap.rtl.causality.notice_order import NoticeOrder, number_bits, packets_in_flight
from tests.support.rtl.streams import simulate


class _Bank:
    """Packets on their way, then notices, by the true number of each."""

    def __init__(self, rng, room, share):
        self.rng, self.room, self.share = rng, room, share
        self.slowness = 0
        self.packets, self.notices, self.shown = deque(), deque(), 0

    def take(self, number):
        self.packets.append((number, self.rng.randrange(3, 12)))

    def let_go(self):
        """Whether the oldest packet leaves now, and with a notice."""
        self.packets = deque((number, wait - 1) for number, wait in self.packets)
        may_leave = self.packets and self.packets[0][1] <= 0 and len(self.notices) < 8
        if not may_leave or self.rng.random() < self.slowness:
            return 0, 0
        number, _ = self.packets.popleft()
        is_noticed = self.rng.random() < self.share
        if is_noticed:
            self.notices.append(number)
        return 1, int(is_noticed)


class NoticeBench:
    """A notice order between random banks and a collector that is slow at times."""

    def __init__(self, params, seed, order=NoticeOrder):
        self.params, self.dut, self.rng = params, order(params), random.Random(seed)
        self.eager = self.rng.choice((0.2, 0.95))
        self.given = []  # numbers of the notices, in order
        self.due = 0
        self.held = 0
        self.oldest = 0
        self.number = 0

    def run(self, cycles, *phases, share=0.4):
        """So many cycles with each slowness of the banks, then until they are empty."""
        params = self.params
        room = packets_in_flight(params) - 2
        banks = [_Bank(self.rng, room, share) for _ in phases[0]]

        async def testbench(ctx):
            for slowness in phases:
                for bank, of_bank in zip(banks, slowness, strict=True):
                    bank.slowness = of_bank
                for _ in range(cycles):
                    await self._cycle(ctx, banks, takes=True)
            for bank in banks:
                bank.slowness = 0.3
            for _ in range(40 * packets_in_flight(params) * len(banks)):
                if not any(bank.packets or bank.notices for bank in banks):
                    break
                await self._cycle(ctx, banks, takes=False)
            await ctx.tick()
            await ctx.tick()
            assert [bank for bank in banks if bank.packets or bank.notices] == []
            assert ctx.get(self.dut.o_idle)

        simulate(self.dut, testbench)
        assert len(self.given) == self.due
        assert self.given == sorted(self.given)

    def check_stuck(self):
        """Nothing is taken elsewhere any more once a bank's packets are as old as half of all
        numbers allows, and no sooner."""
        half = 1 << number_bits(self.params) - 1
        others = [0.1] * (self.params.banks - 1)
        self.run(2 * half, [1, *others], [0.1, *others], share=0.01)
        assert self.number > 2 * half
        assert self.held > 50
        assert self.oldest == half - 2

    async def _cycle(self, ctx, banks, takes):
        dut, rng = self.dut, self.rng
        leaves, noticed = zip(*(bank.let_go() for bank in banks), strict=True)
        ctx.set(dut.i_leaves, sum(bit << place for place, bit in enumerate(leaves)))
        ctx.set(dut.i_noticed, sum(bit << place for place, bit in enumerate(noticed)))
        self.due += sum(noticed)
        hold = ctx.get(dut.o_hold)
        self.held += hold
        taken = [
            takes and not hold and len(bank.packets) < bank.room and rng.random() < 0.6
            for bank in banks
        ]
        ctx.set(dut.i_taken, sum(bit << place for place, bit in enumerate(taken)))
        self.number += any(taken)
        for bank, is_taken in zip(banks, taken, strict=True):
            if is_taken:
                bank.take(self.number)
            oldest = [number for number, _ in bank.packets] + list(bank.notices)
            self.oldest = max(self.oldest, self.number - min(oldest, default=self.number))
        for place, bank in enumerate(banks):
            source = dut.i_notice[place]
            ctx.set(source.valid, bank.shown > 0)
            ctx.set(source.p.packet.pc, bank.notices[0] & 0xFFFF if bank.shown else 0)
        offered = [place for place, given in enumerate(dut.o_notice) if ctx.get(given.valid)]
        wanted = rng.choice(offered) if offered and rng.random() < self.eager else None
        for place, given in enumerate(dut.o_notice):
            ctx.set(given.ready, place == wanted)
        if wanted is not None:
            assert ctx.get(dut.o_notice[wanted].p.packet.pc) == banks[wanted].notices[0] & 0xFFFF
        await ctx.tick()
        for bank, was_noticed in zip(banks, noticed, strict=True):
            # A FIFO shows a notice two cycles after it was put in.
            bank.shown = len(bank.notices) - was_noticed
        if wanted is not None:
            self.given.append(banks[wanted].notices.popleft())
            banks[wanted].shown -= 1
