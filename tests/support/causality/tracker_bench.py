"""Runs a tracker beside the golden one, with a collector that answers late."""

from __future__ import annotations

import random

from racetrap.golden_model.causality.packets import (
    Packet,
    PacketKind,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.causality.tracker import Tracker as GoldenTracker
from racetrap.golden_model.events import lanes_of
from racetrap.rtl.causality.tracker import Tracker
from tests.support.rtl.streams import (
    get,
    get_forever,
    monitor,
    never_idle,
    pulse,
    put,
    put_all,
    random_idle,
    shared,
    simulate,
)

KIND = TransactionKind
#: Kinds that are told without an answer, and those that are not told.
_ADVANCES, _UNTOLD = (KIND.IF, KIND.WARP_BARRIER), (KIND.ELSE, KIND.FI)
_OF_BLOCK = (KIND.BLOCK_START, KIND.BLOCK_END)


def random_transactions(params, rng, count):
    """Transactions of blocks that take any warps; each slot's first is its block's start."""
    kinds = [*KIND, *[KIND.STORE] * 10, *[KIND.IF, KIND.FENCE] * 2]

    def random_transaction(kind):
        warps = rng.getrandbits(params.warps_per_sm) or 1
        return Transaction(
            kind=kind, slot=rng.randrange(params.blocks_per_sm),
            warp=rng.randrange(params.warps_per_sm), order=rng.randrange(4), warps=warps,
            **{
                name: rng.getrandbits(width)
                for name, width in params.transaction_layout.fields.items()
                if name not in ("kind", "slot", "warp", "order", "warps")
            },
        )  # fmt: skip

    return [random_transaction(rng.choice(kinds)) for _ in range(count)]


class TrackerBench:
    """A tracker, a collector that answers with any clocks, and control of wraps."""

    def __init__(self, params, seed=None, sm=0, tracker=Tracker):
        self.params, self.sm = params, sm
        self.dut = shared(tracker, params)
        self.rng = random.Random(seed)
        self.idle = (lambda name: random_idle(f"{seed} {name}")) if seed else lambda _: never_idle
        self.taken, self.packets, self.markers, self.resumes = [], [], [], []
        self.answers = []  # of each marker that is answered
        self.wraps = 0
        self.latest = 0

    def run(self, transactions):
        dut, layout = self.dut, self.params.transaction_layout
        words = [layout.pack(each._asdict()) for each in transactions]

        async def drive(ctx):
            ctx.set(dut.i_sm, self.sm)
            ctx.set(dut.i_enable, 1)
            await put_all(dut.i_transaction, words, idle=self.idle("put"))(ctx)
            while not ctx.get(dut.o_idle):
                await ctx.tick()
            await ctx.tick()

        simulate(
            dut, drive,
            background=[
                get_forever(dut.o_packet, [], idle=self.idle("get")),
                monitor(dut.i_transaction, self.taken), monitor(dut.o_packet, self.packets),
                monitor(dut.o_marker, self.markers), monitor(dut.i_resume, self.resumes),
                self._collector, self._wrap_control,
            ],
        )  # fmt: skip

    async def _collector(self, ctx):
        params, dut, idle = self.params, self.dut, self.idle("collector")
        while True:
            for _ in range(idle()):
                await ctx.tick()
            marker = params.marker_layout.unpack(await get(ctx, dut.o_marker))
            self.latest = max(self.latest, marker["clock"])
            if marker["kind"] >= KIND.IF:
                self.latest = max(self.latest, marker["clock"] + 1)
                continue
            resumes = [self._answer() for _ in range(self.rng.randint(1, 3))]
            if marker["kind"] not in _OF_BLOCK:
                self.latest = max(self.latest, *(clock for _, clock, _ in resumes))
            self.answers.append(resumes)
            for number, (warp, clock, sc) in enumerate(resumes, 1):
                for _ in range(idle()):
                    await ctx.tick()
                word = resume(params, warp, clock, sc, number == len(resumes))
                await put(ctx, dut.i_resume, word)

    def _answer(self):
        top = min(self.latest + 2, self.params.last_clock + 1)
        return [self.rng.randrange(self.params.warps_per_sm), top, self.rng.getrandbits(3)]

    async def _wrap_control(self, ctx):
        dut, idle = self.dut, self.idle("wrap")
        while True:
            *_, wraps = await ctx.tick().sample(dut.o_wrap)
            if wraps:
                for _ in range(idle()):
                    await ctx.tick()
                ctx.set(dut.i_hold, 1)
                await ctx.tick()
                while not ctx.get(dut.o_drained):
                    await ctx.tick()
                await pulse(ctx, dut.i_epoch)
                self.wraps += 1
                self.latest = 1
                while ctx.get(dut.o_busy):
                    await ctx.tick()
                ctx.set(dut.i_hold, 0)

    def expected(self, transactions):
        """Packets and markers of the golden tracker with the same answers, and its wraps."""
        params, golden, answers = self.params, GoldenTracker(self.params, self.sm), [*self.answers]
        packets, markers, wraps = [], [], 0
        for transaction in transactions:
            kind, warps = transaction.kind, golden.warps
            if kind <= KIND.ATOMIC:
                packets.append(golden.packet(transaction))
                continue
            if any(state.clock >= params.last_clock for state in warps):
                wraps += 1
                for state in warps:
                    state.clock = 1
            marker = golden.marker(transaction)
            if kind in _ADVANCES:
                warps[transaction.warp].clock += 1
            packet = golden.packet(transaction)
            of_kind = kind - KIND.IF + PacketKind.IF if kind >= KIND.IF else PacketKind.MARK
            packets.append(packet._replace(kind=of_kind))
            if kind == KIND.BLOCK_START:
                slots = list(lanes_of(transaction.warps))
                marker = marker._replace(clock=golden.begin_block(transaction.slot, slots))
            if kind in (KIND.FENCE, KIND.BEGIN):
                golden.pass_fence(transaction)
            if kind not in _UNTOLD:
                markers.append(marker)
            if kind < KIND.IF:
                for warp, clock, sc in answers.pop(0):
                    if kind not in _OF_BLOCK:
                        warps[warp].clock, warps[warp].sc = clock, sc
        assert not answers
        return packets, markers, wraps

    def check(self, transactions):
        """Everything is as the golden model has it, and a marker has waited for its answers."""
        params = self.params
        packets, markers, wraps = self.expected(transactions)
        assert len(self.packets) == len(transactions) == len(self.taken)
        got = [Packet(**params.packet_layout.unpack(word)) for _, word in self.packets]
        assert got == packets
        assert [word for _, word in self.markers] == [
            params.marker_layout.pack(marker._asdict()) for marker in markers
        ]
        assert wraps == self.wraps
        last = [
            cycle for cycle, word in self.resumes if params.resume_layout.unpack(word)["is_last"]
        ]
        answered = [
            number for number, each in enumerate(transactions) if KIND.ATOMIC < each.kind < KIND.IF
        ]
        for number, cycle in zip(answered, last, strict=True):
            later = self.taken[number + 1 :]
            assert not later or cycle < later[0][0]


def resume(params, warp=0, clock=0, sc=0, is_last=True):
    """Word of a resume."""
    return params.resume_layout.pack(
        {"warp": warp, "clock": clock, "sc": sc, "is_last": int(is_last)}
    )
