"""Runs a tracker beside the golden one, with a collector that answers late."""

from __future__ import annotations

import random
from collections import deque

from racetrap.golden_model.causality.packets import (
    HELD,
    Marker,
    Packet,
    PacketKind,
    ResumeKind,
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
    """A tracker, and a collector that answers with any clocks and begins epochs.

    Once a clock is the last one the collector settles nothing before it has begun an epoch.  With
    the probability ``others`` it is another SM's clock: it tells the tracker so, or to hold.

    Attributes
    ----------
    waited : list of (int, ResumeKind or None, bool)
        Of each marker that waits, its kind, what was told before, and whether an epoch began then.
    """

    def __init__(self, params, seed=None, sm=0, tracker=Tracker, others=0.0):
        self.params, self.sm, self.others = params, sm, others
        self.dut = shared(tracker, params)
        self.rng = random.Random(seed)
        self.idle = (lambda name: random_idle(f"{seed} {name}")) if seed else lambda _: never_idle
        self.taken, self.packets, self.markers, self.resumes = [], [], [], []
        self._idle = self.idle("collector")
        self.answers = []  # of each marker that is answered
        self.waited = []
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
                self._collector,
            ],
        )  # fmt: skip

    async def _collector(self, ctx):
        params, dut, told = self.params, self.dut, None
        while True:
            await self._pause(ctx)
            marker = params.marker_layout.unpack(await get(ctx, dut.o_marker))
            kind = marker["kind"]
            self.latest = max(self.latest, marker["clock"] + (kind in _ADVANCES))
            if kind in _ADVANCES:
                continue
            wraps = (
                told is not None or kind == HELD or self.latest >= params.last_clock
                or self.rng.random() < self.others / 2
            )  # fmt: skip
            self.waited.append((kind, told, wraps))
            if wraps:
                # Whatever it was told before.
                for each in [ResumeKind.FULL, ResumeKind.HOLD][self.rng.randrange(3) :]:
                    await self._tell(ctx, each)
                await self._tell(ctx, ResumeKind.EPOCH)
                self.latest, told = 1 + (kind == KIND.BLOCK_START), None
            if kind != HELD:
                await self._answer(ctx, kind)
                if self.rng.random() < self.others:
                    told = self.rng.choice((ResumeKind.FULL, ResumeKind.HOLD))
                    await self._tell(ctx, told)

    async def _pause(self, ctx):
        for _ in range(self._idle()):
            await ctx.tick()

    async def _tell(self, ctx, kind):
        await self._pause(ctx)
        await put(ctx, self.dut.i_resume, resume(self.params, kind=kind))

    async def _answer(self, ctx, kind):
        """Let the SM go on; some of its warps have other clocks."""
        params, rng = self.params, self.rng
        top = min(self.latest + 2, params.last_clock + 1)
        resumes = [
            (rng.randrange(params.warps_per_sm), top, rng.getrandbits(3))
            for _ in range(rng.randint(1, 3))
        ]
        if kind not in _OF_BLOCK:
            self.latest = top
        self.answers.append(resumes)
        for number, (warp, clock, sc) in enumerate(resumes, 1):
            await self._pause(ctx)
            await put(
                ctx, self.dut.i_resume, resume(params, warp, clock, sc, number == len(resumes))
            )

    def expected(self, transactions):
        """Packets and markers of the golden tracker with the same answers and epochs."""
        params, golden, answers = self.params, GoldenTracker(self.params, self.sm), [*self.answers]
        packets, markers, waited = [], [], deque(self.waited)
        due = deque(transactions)
        while due or waited:
            is_access = not due or due[0].kind <= KIND.ATOMIC
            is_full = any(state.clock >= params.last_clock for state in golden.warps)
            # Marks are told apart by their markers.
            place = params.packet_layout.unpack(self.packets[len(packets)][1])
            is_mark = place["kind"] == PacketKind.MARK
            kind, told, wraps = waited.popleft() if is_mark else (None, None, False)
            if kind == HELD:
                assert told == ResumeKind.HOLD or (not is_access and (is_full or told is not None))
                packets.append(None)
                markers.append(None)
            else:
                transaction = due.popleft()
                assert is_access or not is_full, transaction
                self._send(golden, transaction, packets, markers)
            if wraps:
                for state in golden.warps:
                    state.clock = 1
                if kind == KIND.BLOCK_START:
                    golden.begin_block(transaction.slot, list(lanes_of(transaction.warps)))
            if kind not in (None, HELD):
                for warp, clock, sc in answers.pop(0):
                    if kind not in _OF_BLOCK:
                        golden.warps[warp].clock, golden.warps[warp].sc = clock, sc
        assert not answers
        return packets, markers

    def _send(self, golden, transaction, packets, markers):
        """What the golden tracker makes of a transaction."""
        kind, warps = transaction.kind, golden.warps
        if kind <= KIND.ATOMIC:
            packets.append(golden.packet(transaction))
            return
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

    def check(self, transactions):
        """Everything is as the golden model has it, and a marker has waited for its answers."""
        params = self.params
        packets, markers = self.expected(transactions)
        assert len(self.taken) == len(transactions)
        got = [Packet(**params.packet_layout.unpack(word)) for _, word in self.packets]
        told = [Marker(**params.marker_layout.unpack(word)) for _, word in self.markers]
        assert all_but_held(got, packets) == [each for each in packets if each is not None]
        assert all_but_held(told, markers) == [each for each in markers if each is not None]
        assert {params.sm_of_block(each.block) for each in (*got, *told)} == {self.sm}
        resumes = [(cycle, params.resume_layout.unpack(word)) for cycle, word in self.resumes]
        last = [
            cycle for cycle, each in resumes if each["is_last"] and each["kind"] == ResumeKind.WARP
        ]
        answered = [
            number for number, each in enumerate(transactions) if KIND.ATOMIC < each.kind < KIND.IF
        ]
        for number, cycle in zip(answered, last, strict=True):
            later = self.taken[number + 1 :]
            assert not later or cycle < later[0][0]


def all_but_held(got, expected):
    """What is not of an SM that holds."""
    return [one for one, due in zip(got, expected, strict=True) if due is not None]


def resume(params, warp=0, clock=0, sc=0, is_last=True, kind=ResumeKind.WARP):
    """Word of a resume."""
    return params.resume_layout.pack(
        {"kind": kind, "warp": warp, "clock": clock, "sc": sc, "is_last": int(is_last)}
    )
