"""Hazard window against a plain list of the packets in flight."""

import random
from dataclasses import dataclass
from functools import partial

import pytest

from racetrap.generators.structure import state_bits
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.hazard_window import HazardWindow
from tests.support.rtl.streams import simulate


@dataclass
class Claim:
    """A packet in flight; ``source`` is the number of the packet it takes its entry from."""

    number: int
    index: int
    monitored: bool
    source: int | None = None
    has_read: bool = False
    has_answer: bool = False
    is_checked: bool = False


class WindowModel:
    """Plays random cycles and holds the window to a list of claims."""

    def __init__(self, slots, seed, rates, merges=True):
        self.slots = slots
        self.merges = merges
        self.dut = HazardWindow(ScordParams(outstanding=slots, sm_count=2, merge_in_flight=merges))
        self.rng = random.Random(seed)
        self.rates = rates
        self.live: list[Claim] = []
        self.claims: list[Claim] = []
        self.most_live = 0

    def chance(self, what):
        return self.rng.random() < self.rates[what]

    def holders(self, index):
        return [each for each in self.live if each.monitored and each.index == index]

    def claim(self, index, monitored):
        claim = Claim(len(self.claims), index, monitored)
        if monitored:
            same = self.holders(index)
            assert self.merges or not same
            claim.source = same[-1].number if same else None
        self.claims.append(claim)
        self.live.append(claim)
        self.most_live = max(self.most_live, len(self.live))

    def read(self, slot, index):
        """Reads are asked for in the order of the packets, and for none that is forwarded."""
        needing = [each for each in self.live if each.monitored and each.source is None]
        claim = next(each for each in needing if not each.has_read)
        assert (slot, index) == (claim.number % self.slots, claim.index)
        claim.has_read = True

    def check(self, slot, forwarded, source):
        """Packets leave in order, none before its entry is there."""
        claim = next(each for each in self.live if not each.is_checked)
        assert slot == claim.number % self.slots
        assert forwarded == (claim.source is not None)
        if forwarded:
            assert source == claim.source % self.slots
        assert not claim.monitored or forwarded or claim.has_answer
        claim.is_checked = True

    async def testbench(self, ctx, cycles, indices):
        dut, rng = self.dut, self.rng
        outputs = [
            dut.i.ready, dut.o_slot, dut.o_read.valid, dut.o_read.p.slot, dut.o_read.p.index,
            dut.o_check, dut.o_check_slot, dut.o_check_forwarded, dut.o_check_source, dut.o_idle,
        ]  # fmt: skip
        for _ in range(cycles):
            index, monitored = rng.randrange(indices), self.chance("monitored")
            offers, takes_read = self.chance("offer"), self.chance("read")
            waiting = [each for each in self.live if each.has_read and not each.has_answer]
            answer = rng.choice(waiting) if waiting and self.chance("answer") else None
            retires = bool(self.live) and self.live[0].is_checked and self.chance("retire")
            ctx.set(dut.i.valid, offers)
            ctx.set(dut.i.p.index, index)
            ctx.set(dut.i.p.monitored, monitored)
            ctx.set(dut.o_read.ready, takes_read)
            ctx.set(dut.i_answered.valid, answer is not None)
            ctx.set(dut.i_answered.payload, answer.number % self.slots if answer else 0)
            ctx.set(dut.i_retire, retires)
            _, _, ready, slot, reads, *rest = await ctx.tick().sample(*outputs)
            read_slot, read_index, checks, *check, idle = rest
            assert idle == (not self.live)
            if takes_read:
                is_held = not self.merges and monitored and self.holders(index)
                assert ready == (len(self.live) < self.slots and not is_held)
            if checks:
                self.check(*check)
            if reads and takes_read:
                self.read(read_slot, read_index)
            if offers and ready:
                assert slot == len(self.claims) % self.slots
                self.claim(index, monitored)
            if answer:
                answer.has_answer = True
            if retires:
                self.live.pop(0)
            assert len(self.live) <= self.slots


RATES = {
    "balanced": {"offer": 0.8, "monitored": 0.8, "read": 0.7, "answer": 0.6, "retire": 0.6},
    "full": {"offer": 1, "monitored": 0.9, "read": 0.9, "answer": 0.9, "retire": 0.2},
    "empty": {"offer": 0.3, "monitored": 0.9, "read": 1, "answer": 1, "retire": 1},
    "fences": {"offer": 1, "monitored": 0.2, "read": 1, "answer": 1, "retire": 1},
}


@pytest.mark.parametrize("indices", [1, 3, 20])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("slots", [4, 8])
def test_random_traffic(slots, rates, indices):
    model = WindowModel(slots, f"{slots} {rates} {indices}", RATES[rates])
    simulate(model.dut, partial(model.testbench, cycles=400, indices=indices))
    assert len(model.claims) > 50
    if rates == "full":
        assert model.most_live == slots


@pytest.mark.parametrize("rates", RATES)
def test_without_merging(rates):
    """A packet waits exactly while a slot holds its entry."""
    model = WindowModel(4, f"apart {rates}", RATES[rates], merges=False)
    simulate(model.dut, partial(model.testbench, cycles=400, indices=3))
    assert len(model.claims) > 50


def test_one_packet_a_cycle():
    """With every answer in time the window takes a packet in every cycle."""
    rates = dict.fromkeys(("offer", "monitored", "read", "answer", "retire"), 1)
    model = WindowModel(16, "rate", rates)
    simulate(model.dut, partial(model.testbench, cycles=300, indices=5))
    assert len(model.claims) == 300


def test_as_many_slots_as_there_may_be():
    """No chain of operators is too long to be followed."""
    bits = state_bits(HazardWindow(ScordParams(outstanding=1024)))["top"]
    assert bits.flip_flops > 1024
