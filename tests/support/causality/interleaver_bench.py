"""Runs an interleaver between SMs and banks, some of which wait."""

from __future__ import annotations

import random
from itertools import pairwise

from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.gpu.region import bank_of
from racetrap.rtl.causality.interleaver import Interleaver
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, simulate


def a_packet(params, sm, number, kind, word):
    """A packet that ``number`` distinguishes from others of its SM."""
    fields = dict.fromkeys(Packet._fields, 0)
    block = params.block_id(sm, 0)
    return Packet(**fields | {"kind": kind, "block": block, "pc": number, "word": word})


def random_packets(params, sm, rng, count=60):
    kinds = [PacketKind.STORE] * 8 + list(PacketKind)
    return [
        a_packet(params, sm, number, rng.choice(kinds), rng.getrandbits(params.word_bits))
        for number in range(count)
    ]


class InterleaverBench:
    """An interleaver, with packets of all SMs and what left to each bank, by cycle."""

    def __init__(self, params, seed, interleaver=Interleaver, holds=True, slow=0.4):
        self.params, self.dut, self.seed = params, interleaver(params), seed
        self.taken, self.left = [], [[] for _ in range(params.banks)]
        self.accepted = [[] for _ in range(params.sm_count)]
        self.holds, self.slow = holds, slow

    def run(self, sent):
        dut, layout, running = self.dut, self.params.packet_layout, len(sent)

        def source(sm):
            words = [layout.pack(packet._asdict()) for packet in sent[sm]]
            idle = random_idle(f"{self.seed} {sm}", self.slow)

            async def testbench(ctx):
                nonlocal running
                await put_all(dut.i_packet[sm], words, idle=idle)(ctx)
                running -= 1
                while running or not ctx.get(dut.o_idle):
                    await ctx.tick()
                await ctx.tick()

            return testbench

        simulate(
            dut, *(source(sm) for sm in range(len(sent))),
            background=[
                *(
                    get_forever(port, [], idle=random_idle(f"{self.seed} bank {bank}", self.slow))
                    for bank, port in enumerate(dut.o_packet)
                ),
                *(monitor(*each) for each in zip(dut.o_packet, self.left, strict=True)),
                *(monitor(*each) for each in zip(dut.i_packet, self.accepted, strict=True)),
                self._watch_taken, self._hold,
            ],
            cycles=5000,
        )  # fmt: skip

    async def _watch_taken(self, ctx):
        cycle = 0
        while True:
            *_, taken, hold = await ctx.tick().sample(self.dut.o_taken, self.dut.i_hold)
            assert not (taken and hold), cycle
            self.taken.append(taken)
            cycle += 1

    async def _hold(self, ctx):
        rng = random.Random(f"{self.seed} hold")
        while self.holds:
            ctx.set(self.dut.i_hold, rng.random() < 0.3)
            await ctx.tick()

    def check(self, sent):
        """Each bank has what is for it, in order, and of all but marks is told when it is taken."""
        params, layout = self.params, self.params.packet_layout
        for bank, left in enumerate(self.left):
            got = [Packet(**layout.unpack(word)) for _, word in left]
            for sm, packets in enumerate(sent):
                mine = [each for each in got if params.sm_of_block(each.block) == sm]
                assert mine == [
                    each for each in packets
                    if each.kind > PacketKind.ATOMIC or bank_of(params, each.word) == bank
                ], (bank, sm)  # fmt: skip
            told, cycles = self._told(bank), [cycle for cycle, *_ in self._no_marks(left)]
            assert len(told) == len(cycles), bank
            late = [pair for pair in zip(told, cycles, strict=True) if pair[0] >= pair[1]]
            assert late == []
        for sm, packets in enumerate(sent):
            self._check_order(sm, packets)

    def _told(self, bank):
        """Cycles in which a packet for a bank was taken."""
        return [cycle for cycle, taken in enumerate(self.taken) if taken >> bank & 1]

    def _no_marks(self, transfers):
        """Cycle and packet of each transfer but those of marks."""
        unpack = self.params.packet_layout.unpack
        packets = ((cycle, Packet(**unpack(word))) for cycle, word in transfers)
        return [each for each in packets if each[1].kind != PacketKind.MARK]

    def _check_order(self, sm, packets):
        """No bank has taken a packet of an SM before every bank had the one before."""
        taken_at = {}
        for bank, left in enumerate(self.left):
            for at, (_, packet) in zip(self._told(bank), self._no_marks(left), strict=True):
                if self.params.sm_of_block(packet.block) == sm:
                    taken_at.setdefault(packet.pc, []).append(at)
        times = [taken_at[packet.pc] for packet in packets if packet.kind != PacketKind.MARK]
        assert [each for each in pairwise(times) if max(each[0]) >= min(each[1])] == []
        accepted = [cycle for cycle, _ in self._no_marks(self.accepted[sm])]
        assert accepted == [max(each) for each in times]


def check_random(params, seed, interleaver=Interleaver):
    rng = random.Random(seed)
    sent = [random_packets(params, sm, rng) for sm in range(params.sm_count)]
    bench = InterleaverBench(params, seed, interleaver)
    bench.run(sent)
    bench.check(sent)
