"""Notice order: notices in the order in which packets were taken, without deadlock, for any bank.

Banks are queues that let a packet go when they like, with a notice or without.
"""

import random
from collections import deque

import pytest
from amaranth.sim import Simulator

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.notice_order import NoticeOrder, number_bits, packets_in_flight
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.streams import simulate


def _params(banks, **settings):
    return CausalityParams(**{
        "banks": banks, "sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "outstanding": 4,
        "packet_fifo_depth": 2, "report_fifo_depth": 2, "address_bits": 20, "pc_bits": 16,
        "shared_bytes": 0, **settings,
    })  # fmt: skip


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


class _Bench:
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


@pytest.mark.parametrize("banks", later_but((2, 4).__contains__, (2, 4, 8)))
def test_notices_are_in_the_order_of_their_packets(banks):
    bench = _Bench(_params(banks), f"order {banks}")
    bench.run(400, [bench.rng.choice((0.1, 0.5, 0.8)) for _ in range(banks)])
    assert bench.due > 30


def test_numbers_wrap_while_a_bank_is_stuck():
    """Nothing is taken elsewhere any more before its packets are as old as half of all numbers."""
    params = _params(2)
    half = 1 << number_bits(params) - 1
    bench = _Bench(params, "stuck")
    bench.run(2 * half, [1, 0.1], [0.1, 0.1], share=0.01)
    assert bench.number > 2 * half
    assert bench.held > 50
    assert half // 2 < bench.oldest < half


def test_a_lone_bank_is_not_kept_waiting():
    dut = NoticeOrder(_params(1))

    async def testbench(ctx):
        source, sink = dut.i_notice[0], dut.o_notice[0]
        for valid, ready in ((0, 1), (1, 0), (1, 1)):
            ctx.set(source.valid, valid)
            ctx.set(sink.ready, ready)
            ctx.set(source.p.packet.pc, 7)
            await ctx.delay(0)
            assert (ctx.get(sink.valid), ctx.get(source.ready)) == (valid, ready)
            assert ctx.get(sink.p.packet.pc) == 7
            assert (ctx.get(dut.o_hold), ctx.get(dut.o_idle)) == (0, 1)

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


_FILE = "causality/notice_order.py"
_BUGS = {
    "notice-ahead-of-an-older-one": Patch(_FILE, "first.valid & ~is_newer.any()", "first.valid"),
    "one-bank-is-enough": Patch(_FILE, "~is_newer.any()", "~is_newer.all()"),
    "oldest-is-that-of-packets-alone": Patch(
        _FILE, "with m.If(noticed.o.valid):", "with m.If(0):"
    ),
    "packet-hides-notices-before-it": Patch(
        _FILE, "noticed.o_empty & checked.o.valid", "checked.o.valid"
    ),
    "idle-while-a-number-is-not-shown": Patch(
        _FILE, "with m.Elif(self.o_idle):", "with m.Else():"
    ),
    "numbers-are-compared-as-they-are": Patch(
        _FILE, "(other - first.payload)[len(other) - 1]", "(other < first.payload)"
    ),
    "numbers-are-packets-of-a-bank": Patch(_FILE, "self.i_taken.any()", "self.i_taken[0]"),
    "no-packet-is-too-old": Patch(_FILE, "age >= (1 << (bits - 1)) - 1", "0"),
    "every-packet-is-noticed": Patch(_FILE, "self.i_leaves & self.i_noticed", "self.i_leaves"),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    order = modules_with([_FILE], _BUGS[bug])[_FILE].NoticeOrder
    busy, stuck = (_Bench(_params(4), "bugs", order) for _ in range(2))
    busy.eager = 0.95
    with pytest.raises(AssertionError):  # noqa: PT012, either run may show it
        busy.run(1500, [0.2, 0.5, 0.5, 0.1], share=0.2)
        stuck.run(2000, [1, 0.2, 0.5, 0.2], share=0.01)
