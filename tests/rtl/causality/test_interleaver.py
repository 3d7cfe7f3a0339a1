"""Interleaver: each bank gets its words and all else, in each SM's order, under back-pressure."""

import random
from itertools import pairwise

import pytest

from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import bank_of
from racetrap.rtl.causality.interleaver import Interleaver
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, simulate


def _params(**settings):
    return CausalityParams(**{"address_bits": 20, "pc_bits": 16, **settings})


def _packet(params, sm, number, kind, word):
    """A packet that ``number`` distinguishes from others of its SM."""
    fields = dict.fromkeys(Packet._fields, 0)
    block = params.block_id(sm, 0)
    return Packet(**fields | {"kind": kind, "block": block, "pc": number, "word": word})


def _random_packets(params, sm, rng, count=60):
    kinds = [PacketKind.STORE] * 8 + list(PacketKind)
    return [
        _packet(params, sm, number, rng.choice(kinds), rng.getrandbits(params.word_bits))
        for number in range(count)
    ]


class _Bench:
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


def _check(params, seed, interleaver=Interleaver):
    rng = random.Random(seed)
    sent = [_random_packets(params, sm, rng) for sm in range(params.sm_count)]
    bench = _Bench(params, seed, interleaver)
    bench.run(sent)
    bench.check(sent)


@pytest.mark.parametrize(
    ("sms", "banks"),
    later_but({(1, 1), (3, 2), (4, 4)}.__contains__, [
        (sms, banks) for sms in (1, 3, 4, 5) for banks in (1, 2, 4)
    ]),
)  # fmt: skip
def test_random_packets(sms, banks):
    _check(_params(sm_count=sms, banks=banks), f"{sms} {banks}")


def test_one_packet_a_cycle_and_a_mark_a_cycle():
    """All SMs offer accesses to two banks: both take one each cycle.  All offer markers: both take
    one each cycle, which is one in as many cycles as there are SMs for each of them."""
    params = _params(sm_count=4, banks=2)
    for kind in (PacketKind.LOAD, PacketKind.MARK):
        sent = [
            [_packet(params, sm, number, kind, number + sm) for number in range(40)]
            for sm in range(4)
        ]
        bench = _Bench(params, "", holds=False, slow=0)
        bench.run(sent)
        bench.check(sent)
        for left in bench.left:
            cycles = sum(20 <= cycle < 70 for cycle, _ in left)
            assert cycles == 50, (kind, cycles)


def test_latency_of_a_lone_packet_is_one_cycle():
    params = _params(sm_count=2, banks=2)
    sent = [[], [_packet(params, 1, 0, PacketKind.MARK, 0)]]
    bench = _Bench(params, "", holds=False, slow=0)
    bench.run(sent)
    (accepted,), *left = bench.accepted[1], *bench.left
    assert [[cycle for cycle, _ in of_bank] for of_bank in left] == [[accepted[0] + 1]] * 2


_FILE, _BASE = "causality/interleaver.py", "gpu/interleaver.py"
_BUGS = {
    "copy-of-the-first-bank-is-enough": Patch(
        _FILE, "(takes | ~goes).all()", "(takes & goes).any()"
    ),
    "branches-to-their-word": Patch(_FILE, "> PacketKind.ATOMIC", "== PacketKind.MARK"),
    "copies-are-repeated": Patch(_FILE, "is_there & ~has[bank]", "is_there"),
    "copies-of-the-packet-before": Patch(
        _FILE, "~port.ready.replicate(len(sinks))", "(1 << len(sinks)) - 1"
    ),
    "held-packets-are-taken": Patch(_FILE, "goes[bank] & ~self.i_hold", "goes[bank]"),
    "bank-of-another-bit": Patch(_BASE, "packet.word[:bits] == bank", "packet.word[1] == bank"),
    "taken-when-offered": Patch(_FILE, "sink.valid & sink.ready", "sink.valid"),
    "marks-are-taken": Patch(_FILE, "& (sink.payload.kind != PacketKind.MARK)", ""),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    interleaver = modules_with([_BASE, _FILE], _BUGS[bug])[_FILE].Interleaver
    with pytest.raises((AssertionError, TimeoutError)):
        _check(_params(sm_count=3, banks=2), "bugs", interleaver)
