"""Shared fence file against the golden one: segments with many owners, fences, packets ahead."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import chain, product

import pytest

from racetrap.generators.structure import state_bits
from racetrap.golden_model.scord.fence_file import FenceFile as GoldenFile
from racetrap.golden_model.scord.fence_file import owner_conflicts
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.shared_fence_file import SharedFenceFile
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.streams import pulse, simulate

_FILE = "scord/shared_fence_file.py"


@dataclass
class Segment:
    """Accesses of a warp to entries with owners; or with ``fences`` some of them at once.

    With ``source`` the entries are what that segment leaves: an access either takes its entry over
    or leaves it to its owner.
    """

    own: tuple[int, int]
    owners: list[tuple[int, int]]
    accesses: list[bool]
    takes: list[bool]
    fences: dict[int, tuple[tuple[int, int], int]] = field(default_factory=dict)
    source: Segment | None = None
    #: Fence counters of each owner, as the decision stage passes them on.
    counters: list[tuple[int, int]] = field(default_factory=list)

    def left(self, bank: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Owner of the entry afterwards, and its counters if it was not the owner before."""
        if self.accesses[bank] and self.takes[bank]:
            return self.own, None
        return self.owners[bank], self.counters[bank] if self.counters else None


class Player:
    """Plays segments as the check pipelines do, and checks each when it is decided."""

    def __init__(self, params, file=SharedFenceFile, seed=1):
        self.params, self.rng = params, random.Random(seed)
        self.dut, self.model = file(params), GoldenFile(params)
        self.waits = self.checked = 0
        self._stages: list[Segment | None] = [None] * 4
        self._waits = False

    def _set(self, ctx, port, warp):
        ctx.set(port.sm, self.params.sm_of_block(warp[0]))
        ctx.set(port.warp, warp[1])

    def warp(self):
        """Any warp."""
        sm, slot = self.rng.randrange(self.params.sm_count), 0
        return self.params.block_id(sm, slot), self.rng.randrange(self.params.warps_per_sm)

    def _offer(self, ctx, given: Segment):
        """Stage 1: garbage instead of an owner who is not known yet."""
        first = self.dut.banks[0]
        for lane, own in enumerate(first.i_own):
            self._set(ctx, own, given.fences.get(lane, (given.own, 0))[0])
        unknown = given.source is not None and given.source in self._stages[1:3]
        for bank, port in enumerate(self.dut.banks):
            self._set(ctx, port.i_owner, self.warp() if unknown else given.owners[bank])
            ctx.set(port.i_asks, given.accesses[bank])

    def _look_up(self, ctx):
        """Stage 2."""
        _, waiting, ahead, last = self._stages
        source = waiting and waiting.source
        for bank, port in enumerate(self.dut.banks):
            is_late = source is not None and source is last
            ctx.set(port.i_needs, waiting is not None and waiting.accesses[bank])
            ctx.set(port.i_follows, source is not None and source is ahead)
            ctx.set(port.i_late, is_late)
            if is_late:
                warp, counters = last.left(bank)
                self._set(ctx, port.i_late_owner, warp)
                blk, dev = counters or last.own_counters
                ctx.set(port.i_late_counters.blk, blk)
                ctx.set(port.i_late_counters.dev, dev)

    def _decide(self, ctx):
        """Stage 3: what the file answers, or the segment ahead passes on."""
        *_, decided, last = self._stages
        fences = decided.fences if decided else {}
        first = self.dut.banks[0]
        ctx.set(first.i_fence, sum(1 << lane for lane in fences))
        ctx.set(first.i_scope, sum(scope << lane for lane, (_, scope) in fences.items()))
        if decided is None:
            return
        for lane, (warp, scope) in fences.items():
            self.model.fence(*warp, scope)
            assert self._pair(ctx, first.o_fenced[lane]) == self.model.read(*warp)
        decided.counters = []
        for bank, port in enumerate(self.dut.banks):
            counters = self._pair(ctx, port.o_owner)
            if decided.source is not None and decided.source is last:
                counters = last.left(bank)[1] or last.own_counters
            decided.counters.append(counters)
            if decided.accesses[bank]:
                assert counters == self.model.read(*decided.owners[bank]), (bank, decided)
                assert self._pair(ctx, port.o_own) == self.model.read(*decided.own)
                self.checked += 1
        decided.own_counters = self.model.read(*decided.own)

    def _pair(self, ctx, counters):
        return ctx.get(counters.blk), ctx.get(counters.dev)

    async def play(self, ctx, segments):
        """Offer segments one a cycle, unless they wait; None is a gap."""
        queue = [*segments, None, None, None, None]
        while queue:
            self._stages[0] = queue[0]
            if queue[0] is not None:
                self._offer(ctx, queue[0])
            self._look_up(ctx)
            self._decide(ctx)
            waits = ctx.get(self.dut.banks[-1].o_wait)
            self.waits += waits
            assert self.waits < 100 * (self.checked + 100), "a segment waits for ever"
            given, waiting, ahead, _ = self._stages
            if waits:
                self._stages = [given, waiting, None, ahead]
            else:
                queue.pop(0)
                self._stages = [None, given, waiting, ahead]
            await ctx.tick()

    def run(self, *launches):
        """Play the segments of each launch, the first after reset."""

        async def testbench(ctx):
            for number, segments in enumerate(launches):
                if number:
                    await self._clear(ctx)
                await self.play(ctx, segments)

        simulate(self.dut, testbench)
        accesses = (sum(each.accesses) for each in chain(*launches) if each)
        assert self.checked == sum(accesses)

    async def _clear(self, ctx):
        await pulse(ctx, self.dut.banks[0].i_clear)
        while ctx.get(self.dut.banks[0].o_busy):
            await ctx.tick()
        self.model.clear()


def random_segments(player, count, *, few=3, fences=0.3, ahead=0.5, gaps=0.2):
    """Segments of few warps, often with the entries of one just before."""
    params, rng = player.params, player.rng
    words = params.words_per_cycle
    warps = [player.warp() for _ in range(few)]
    segments: list[Segment | None] = []
    for _ in range(count):
        if rng.random() < gaps:
            segments.append(None)
        elif rng.random() < fences:
            of_lane = {
                params.sm_of_block(warp[0]) % params.fence_lanes: (warp, rng.getrandbits(1))
                for warp in rng.sample(warps, min(2, few))
            }
            segments.append(Segment(warps[0], [warps[0]] * words, [False] * words, [], of_lane))
        else:
            source = None
            owners = [rng.choice(warps) for _ in range(words)]
            before = [each for each in segments[-4:] if each and not each.fences]
            if before and rng.random() < ahead:
                source = rng.choice(before)
                owners = [source.left(bank)[0] for bank in range(words)]
            segments.append(
                Segment(
                    rng.choice(warps), owners,
                    [rng.random() < 0.6 for _ in range(words)],
                    [rng.random() < 0.6 for _ in range(words)], source=source,
                )
            )  # fmt: skip
    return segments


def _params(words=8, **settings):
    base = {"sm_count": 3, "blocks_per_sm": 1, "warps_per_sm": 4}
    return ScordParams(banks=words, words_per_cycle=words, **(base | settings))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"words": 2, "fence_id_bits": 2},
        {"words": 4, "fence_lanes": 2, "sm_count": 5},
        {"sm_count": 1, "warps_per_sm": 1},
        {"sm_count": 15, "warps_per_sm": 32, "fence_lanes": 4},
        {"words": 2, "sm_count": 4, "fence_lanes": 4},
        *({"words": 4, "warps_per_sm": count} for count in (3, 5, 7, 8, 9)),
        {"words": 4, "sm_count": 9, "warps_per_sm": 1, "fence_lanes": 8},
    ],
    ids=str,
)
def test_random_segments_and_fences(settings):
    params = _params(**settings)
    for few in (3, 12):
        player = Player(params, seed=f"{settings} {few}")
        player.run(random_segments(player, 120, few=few))


@pytest.mark.parametrize("settings", [{}, {"fence_lanes": 2}, {"words": 4, "sm_count": 8}], ids=str)
def test_waits_are_those_of_the_golden_model(settings):
    """Two cycles for each owner that cannot be read at once, and none for a bank without access."""
    player = Player(_params(**settings), seed=str(settings))
    segments = random_segments(player, 200, few=10, ahead=0)
    player.run(segments)
    params, slot = player.params, player.model.slot
    expected = sum(
        owner_conflicts(
            params,
            [
                slot[block << params.warp_bits | warp]
                for (block, warp), has_access in zip(each.owners, each.accesses, strict=True)
                if has_access
            ],
        )
        for each in segments
        if each
    )
    assert player.waits == 2 * expected > 20


@pytest.mark.parametrize("count", range(1, 9))
def test_owners_of_one_memory(count):
    """The most that a segment can have: all in one memory, each word another."""
    params = _params(sm_count=8, warps_per_sm=8)
    owners = [(params.block_id(bank % count, 0), 3) for bank in range(8)]
    player = Player(params)
    player.run([Segment((0, 3), owners, [True] * 8, [True] * 8)])
    assert player.waits == 2 * (count - 1)
    slots = [params.sm_of_block(block) << params.warp_bits | warp for block, warp in owners]
    assert owner_conflicts(params, slots) == count - 1


def test_owners_of_different_memories_do_not_wait():
    params = _params(fence_lanes=4, sm_count=4)
    owners = [(params.block_id(bank % 4, 0), bank // 4) for bank in range(8)]
    player = Player(params)
    player.run([Segment((0, 1), owners, [True] * 8, [True] * 8)] * 3)
    assert player.waits == 0


def test_an_owner_that_the_packet_ahead_did_not_need():
    """Its entry comes from that packet; nobody has looked up the owner yet."""
    params = _params(words=2)
    one, other = (params.block_id(0, 0), 0), (params.block_id(1, 0), 0)
    first = Segment(one, [one, other], [True, False], [True, True])
    second = Segment(one, [one, other], [False, True], [True, True], source=first)
    fence = Segment(one, [one] * 2, [False] * 2, [], {0: (other, 1)})
    player = Player(params)
    player.run([fence, first, second, first, None, second])
    assert player.waits > 0


def test_clear():
    params = _params(sm_count=3, warps_per_sm=4)
    player = Player(params)
    warps = [(params.block_id(sm, 0), warp) for sm in range(3) for warp in range(4)]
    fences = [Segment(warp, [warp] * 8, [False] * 8, [], {0: (warp, 1)}) for warp in warps]
    reads = [Segment(warp, [warp] * 8, [True] * 8, [True] * 8) for warp in warps]

    player.run(fences + reads, reads)
    assert player.checked == 2 * 8 * len(warps)


@pytest.mark.parametrize("lanes", [1, 4])
def test_one_copy_of_the_counters(lanes):
    """Of Section IV-C's 720 bytes, whatever the words; SMs fill up the memories of all lanes."""
    params = ScordParams(banks=8, words_per_cycle=8, sm_count=16, fence_lanes=lanes)
    state = state_bits(SharedFenceFile(params))["top"]
    assert state.memory_bits == 16 * 32 * 12


_BUGS = {
    "answer-of-another-owner": Patch(
        _FILE, "pick(addresses, memory) == place_of(params, owner)", "Const(1)"
    ),
    "answer-of-another-memory": Patch(
        _FILE, "pick(answers, memory), waits)", "pick(answers, memory ^ 1), waits)"
    ),
    "first-asks-again": Patch(_FILE, "Mux(waits, later, now)", "now"),
    "kept-counters-are-overwritten": Patch(_FILE, "m.Elif(~is_kept):", "m.Else():"),
    "counters-of-absent-word-passed-on": Patch(
        _FILE, "Mux(bank.i_follows, was_known, is_asked | is_kept)", "is_asked | is_kept"
    ),
    "late-counters-always-known": Patch(
        _FILE, "Mux(bank.i_late, known_before,", "Mux(bank.i_late, 1,"
    ),
    "late-owner-not-kept": Patch(_FILE, "owner.eq(bank.i_late_owner), ", ""),
    "fence-not-forwarded": Patch(_FILE, "self.written.eq(self.fence)", "self.written.eq(0)"),
    "fence-now-not-seen": Patch(
        _FILE, "return self.fence & (self.answered == warp)", "return Const(0)"
    ),
    "own-not-asked-again": Patch(_FILE, "Mux(waits, self.own, given)", "given"),
    "fence-in-all-memories": Patch(_FILE, "self.fence & is_here | is_busy", "self.fence | is_busy"),
    "reset-of-one-memory": Patch(
        _FILE, "is_here | is_busy)", "is_here | is_busy & (number == 0))"
    ),
}  # fmt: skip


def _check(file):
    for seed, settings in product(range(4), ({"warps_per_sm": 8}, {"words": 4, "fence_lanes": 2})):
        player = Player(_params(**settings), file, seed)
        segments = random_segments(player, 200, few=6)
        player.run(segments, segments)


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    file = modules_with([_FILE], _BUGS[bug])[_FILE].SharedFenceFile
    with pytest.raises(AssertionError):
        _check(file)
