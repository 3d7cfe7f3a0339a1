"""Fences on their way to the banks: order among accesses, all banks, own warp only, rate.

They are tested where they meet the accesses, in the interleaver.
"""

import random
from collections import defaultdict

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.interleaver import Interleaver
from tests.support.campaign import later_but
from tests.support.planted_bugs import module_with
from tests.support.rtl.streams import get_forever, put, random_idle, simulate


def _fences(params, word):
    """(SM, warp) of each fence in a packet of kind FENCE."""
    layout, one, lanes = params.packet_layout, params.fence_layout, params.fence_lanes
    rest = word >> 3 + one.width
    first = layout.unpack(word & (1 << layout.width) - 1)
    others = [rest >> lanes + k * one.width & (1 << one.width) - 1 for k in range(lanes - 1)]
    found = [first, *map(one.unpack, others)]
    return [
        (params.sm_of_block(each["block"]), each["warp"])
        for lane, each in enumerate(found)
        if lanes == 1 or rest >> lane & 1
    ]


class _Bench:
    """An interleaver whose SMs keep a warp back until its fence is at every bank.

    A program is (warp, word) for each access of an SM, (warp, None) for each fence; an SM sends
    the first step whose warp may go on.
    """

    def __init__(self, params, dut=None):
        self.params, self.dut = params, dut or Interleaver(params)
        self.cycle = 0
        self.accesses = {}  # by SM and number: cycle in which it was taken
        self.sent, self.done = defaultdict(list), defaultdict(list)  # cycles, by SM and warp
        self.left = [[] for _ in self.dut.o_packet]  # of each port, what was taken of it

    def _decode(self, word, is_input):
        """(SM, number) of an access, or a list of (SM, warp) of fences."""
        layout = self.params.packet_layout
        packet = layout.unpack(word & (1 << layout.width) - 1)
        sm = self.params.sm_of_block(packet["block"])
        if packet["kind"] != PacketKind.FENCE:
            return sm, packet["pc"]
        return [(sm, packet["warp"])] if is_input else _fences(self.params, word)

    async def watch(self, ctx):
        streams = [*self.dut.i_packet, *self.dut.o_packet]
        signals = [
            signal
            for port in streams
            for signal in (port.valid, port.ready, Value.cast(port.payload))
        ]
        sms = self.params.sm_count
        while True:
            _, _, *seen = await ctx.tick().sample(*self.dut.o_fenced, *signals)
            for sm, mask in enumerate(seen[:sms]):
                for warp in range(self.params.warps_per_sm):
                    if mask >> warp & 1:
                        self.done[sm, warp].append(self.cycle)
            values = iter(seen[sms:])
            for number, (valid, ready, word) in enumerate(zip(values, values, values, strict=True)):
                if not valid or not ready:
                    continue
                item = self._decode(word, number < sms)
                if number >= sms:
                    self.left[number - sms].append(item)
                elif isinstance(item, tuple):
                    self.accesses[item] = self.cycle
                else:
                    self.sent[item[0]].append(self.cycle)
            self.cycle += 1

    def sm(self, sm, program, idle):
        async def testbench(ctx):
            left, sends = list(enumerate(program)), defaultdict(int)
            while left:
                for _ in range(idle()):
                    await ctx.tick()
                blocked = {
                    warp for warp, count in sends.items() if count > len(self.done[sm, warp])
                }
                ready = next((step for step in left if step[1][0] not in blocked), None)
                if ready is None:
                    await ctx.tick()
                    continue
                left.remove(ready)
                number, (warp, word) = ready
                sends[warp] += word is None
                block = self.params.block_id(sm, 0)
                packet = Packet(PacketKind.LOAD, 0, 0, block, warp, 0, 0, number, word or 0)
                if word is None:
                    packet = Packet(PacketKind.FENCE, number & 1, 0, block, warp, 0, 0, 0, 0)
                packed = self.params.packet_layout.pack(packet._asdict())
                await put(ctx, self.dut.i_packet[sm], packed)
            while any(count > len(self.done[sm, warp]) for warp, count in sends.items()):
                await ctx.tick()
            while not ctx.get(self.dut.o_idle):
                await ctx.tick()
            await ctx.tick()

        return testbench

    def run(self, programs, seed, idle=0.3):
        background = [
            get_forever(port, [], idle=random_idle(f"{seed} port {number}", 2 * idle, 9))
            for number, port in enumerate(self.dut.o_packet)
        ]
        sms = [
            self.sm(sm, program, random_idle(f"{seed} SM {sm}", idle))
            for sm, program in enumerate(programs)
        ]
        simulate(self.dut, *sms, background=[*background, self.watch], cycles=5000)

    def run_and_check(self, programs, seed):
        self.run(programs, seed)
        self.check()

    def check(self):
        """Each port has each fence once, behind the accesses that its SM sent before it, and
        before all accesses that anyone sent after it was done."""
        expected = {key: len(cycles) for key, cycles in self.sent.items() if cycles}
        assert {key: len(cycles) for key, cycles in self.done.items() if cycles} == expected
        for left in self.left:
            counts = defaultdict(int)
            for place, item in enumerate(left):
                for sm, warp in item if isinstance(item, list) else []:
                    nth = counts[sm, warp]
                    counts[sm, warp] += 1
                    assert nth < expected[sm, warp], "a fence comes twice"
                    self._check_place(left, place, sm, warp, nth)
            assert counts == expected, "a fence is missing"
        assert sum(isinstance(item, tuple) for left in self.left for item in left) == len(
            self.accesses
        )

    def _check_place(self, left, place, sm, warp, nth):
        for number, access in enumerate(left):
            if isinstance(access, list):
                continue
            if number < place:
                assert self.accesses[access] <= self.done[sm, warp][nth], "a fence is overtaken"
            elif access[0] == sm:
                assert self.accesses[access] > self.sent[sm, warp][nth], "a fence overtakes"


def _programs(params, rng, length):
    return [
        [
            (rng.randrange(params.warps_per_sm), None if rng.random() < 0.2 else rng.randrange(64))
            for _ in range(length)
        ]
        for _ in range(params.sm_count)
    ]


_PARAMS = ScordParams(sm_count=4, warps_per_sm=5, banks=2, fence_lanes=2)


@pytest.mark.parametrize(
    ("sms", "lanes", "banks", "words"),
    later_but(
        lambda each: each[0] in (1, 5, 6),
        [(1, 1, 1, 1), (3, 1, 4, 2), (2, 2, 1, 1), (5, 4, 4, 1), (6, 2, 8, 4)],
    ),
)
def test_random_fences(sms, lanes, banks, words):
    params = ScordParams(
        sm_count=sms, warps_per_sm=3, banks=banks, words_per_cycle=words, fence_lanes=lanes
    )
    seed = f"{sms} {lanes} {banks} {words}"
    bench = _Bench(params)
    bench.run_and_check(_programs(params, random.Random(seed), 60), seed)


#: File, what stands in it and what instead.
_PLANTED = {
    "done at the first bank": (
        "scord/fence_collector.py", ("& has_taken.all()", "& has_taken.any()")
    ),
    "done before any bank has it": (
        "scord/fence_collector.py", ("leaves & is_mine", "is_mine")
    ),
    "fence joins a bundle late": (
        "scord/fence_collector.py", ("may_load.eq(~present.any() | leaves)", "may_load.eq(1)"),

    ),
    "bank gets a bundle again": (
        "scord/fence_collector.py", ("present.any() & ~taken[number]", "present.any()"),

    ),
    "fence passes an access at its bank": (
        "scord/interleaver.py",
        (
            "            wiring.connect(m, arbiter.o, wiring.flipped(port))\n",
            "            first, fence = fence, arbiter.o.signature.flip().create()\n"
            "            m.d.comb += [\n"
            "                port.valid.eq(arbiter.o.valid | first.valid),\n"
            "                port.payload.eq(arbiter.o.payload),\n"
            "                arbiter.o.ready.eq(port.ready & ~first.valid),\n"
            "                first.ready.eq(port.ready),\n"
            "            ]\n"
            "            with m.If(first.valid):\n"
            "                m.d.comb += port.payload.eq(first.payload)\n",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _PLANTED)
def test_planted_bug_is_found(name, monkeypatch):
    file, change = _PLANTED[name]
    module = module_with(file, change)
    if file.endswith("collector.py"):
        collector, module = module, module_with("scord/interleaver.py", None)
        monkeypatch.setattr(module, "FenceCollector", collector.FenceCollector)
    bench = _Bench(_PARAMS, module.Interleaver(_PARAMS))
    with pytest.raises((AssertionError, TimeoutError)) as caught:
        bench.run_and_check(_programs(_PARAMS, random.Random(name), 60), name)
    print(f"{name}: {caught.value}")


def test_other_warps_go_on_while_a_bank_takes_nothing():
    """A fence waits for the bank of port 1; accesses and fences of its SM leave all the same."""
    params = ScordParams(sm_count=2, warps_per_sm=4, banks=2)
    bench = _Bench(params)
    program = [(0, 0), (0, None), (1, None), *((2, 2 * n) for n in range(10)), (3, None)]
    taken = []

    async def host(ctx):
        ctx.set(bench.dut.o_packet[0].ready, 1)
        ctx.set(bench.dut.o_packet[1].ready, 0)
        for _ in range(40):
            await ctx.tick()
        sent, done = ([warp for _, warp in filter(of.get, of)] for of in (bench.sent, bench.done))
        taken.append((len(bench.accesses), sent, done))
        ctx.set(bench.dut.o_packet[1].ready, 1)

    simulate(bench.dut, host, bench.sm(0, program, lambda: 0), background=[bench.watch], cycles=500)
    # The first fence is in port 1's register, from where nothing can overtake it.
    assert taken == [(11, [0, 1, 3], [0])]
    bench.check()


@pytest.mark.parametrize(
    ("lanes", "ports"), later_but(lambda each: each == (4, 4), [(1, 1), (4, 4)])
)
def test_rate(lanes, ports):
    """15 SMs send fences alone: every bank counts as many in a cycle as there are lanes."""
    params = ScordParams(banks=ports, fence_lanes=lanes, warps_per_sm=12)
    bench = _Bench(params)
    programs = [[(n, None) for n in range(12)] for _ in range(params.sm_count)]
    bench.run(programs, "rate", idle=0)
    bench.check()
    cycles = sorted(cycle for of_warp in bench.done.values() for cycle in of_warp)
    window = range(cycles[0] + 5, cycles[0] + 40)
    rate = sum(cycle in window for cycle in cycles) / len(window)
    print(f"{lanes} lanes, {ports} ports: {rate:.2f} fences a cycle")
    assert rate > 0.97 * lanes
