"""Compressed clocks lose nothing: they answer every question as plain vector clocks do."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.barracuda.compressed import (
    NOTHING,
    START,
    Clock,
    Format,
    Knowledge,
    Place,
    join_all,
)
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.sync import SyncLocation
from racetrap.golden_model.events import WARP_SIZE, EventKind, lanes_of
from tests.support.oracle.programs import ALL, Program
from tests.support.oracle.vector_clock import SyncClocks, VectorClocks

BLOCKS, WARPS, LIVE = 2, 2, 0b111
_LOCATIONS = 2


def _kernel() -> Kernel:
    (kernel,) = kernels_of(Program(BLOCKS, WARPS, LIVE).trace)
    return kernel


class Both:
    """Both kinds of clocks under the same operations, and the epochs that they are asked for."""

    def __init__(self) -> None:
        self.kernel = _kernel()
        count = len(self.kernel.live)
        self.plain = VectorClocks(self.kernel)
        self.plain_sync = SyncClocks(count * WARP_SIZE)
        self.warps = [
            Warp(Place.of(self.kernel, warp, 1), int(live))
            for warp, live in enumerate(self.kernel.live)
        ]
        self.sync = [SyncLocation() for _ in range(_LOCATIONS)]
        self.now = 0
        #: Accesses so far: thread, epoch in plain clocks, time in compressed ones.
        self.epochs: list[tuple[int, int, int]] = []

    def instruction(self, number: int) -> None:
        warp = self.warps[number]
        self.now += 1
        for thread in self.plain.active(number):
            self.epochs.append((thread, self.plain.epoch(thread), self.now))
        self.plain.end_instruction(number)
        assert lanes_of(warp.active & warp.live) == tuple(
            thread % WARP_SIZE for thread in self.plain.active(number)
        )

    def branch(self, number: int, kind: EventKind, mask: int) -> None:
        self.now += 1
        self.plain.branch(kind, number, mask)
        self.warps[number].branch(kind, mask, self.now)

    def barrier(self, block: int) -> None:
        self.now += 1
        warps = [self.warps[number] for number in self.kernel.warps_of(block)]
        missing = self.plain.barrier(block)
        assert (missing is not None) == any(warp.absent for warp in warps)
        far = join_all(far for warp in warps for far in warp.far)
        for warp in warps:
            warp.pass_barrier(Clock(block_time=self.now, far=far.outside(warp.place)))

    def release(self, number: int, location: int, to_all: bool) -> None:
        self.now += 1
        block = int(self.kernel.warp_block[number])
        for thread in self.plain.active(number)[:1]:
            own = self.plain.clock[thread]
            self.plain_sync.release(location, own, None if to_all else block)
            own[thread] += 1
            known = self.warps[number].clock.publish(self.warps[number].place, self.now)
            if to_all:
                self.sync[location].release_to_all(known)
            else:
                self.sync[location].release_to_block(block, known)
        self.plain.end_instruction(number)

    def acquire(self, number: int, location: int, from_anywhere: bool) -> None:
        self.now += 1
        block, warp = int(self.kernel.warp_block[number]), self.warps[number]
        for thread in self.plain.active(number)[:1]:
            if from_anywhere:
                self.plain.acquire(thread, self.plain_sync.anywhere(location))
                warp.acquire(self.sync[location].anywhere)
            else:
                self.plain.acquire(thread, self.plain_sync.for_all(location))
                self.plain.acquire(thread, self.plain_sync.for_block(location, block))
                warp.acquire(self.sync[location].for_all, self.sync[location].of_block(block))
        self.plain.end_instruction(number)

    def check(self) -> None:
        """Every active thread must know exactly the same accesses."""
        for number, warp in enumerate(self.warps):
            for thread in self.plain.active(number):
                for other, epoch, time in self.epochs:
                    owner, lane = divmod(other, WARP_SIZE)
                    block = int(self.kernel.warp_block[owner])
                    known = warp.clock.time_of(warp.place, block, owner, lane, self.now)
                    if other != thread:
                        assert self.plain.knows(thread, other, epoch) == (known >= time)


class Open(NamedTuple):
    """Lanes of an open branch: those that wait, and all."""

    waiting: int
    whole: int


@st.composite
def _runs(draw: st.DrawFn) -> list[tuple]:
    """Operations that keep the rules of branches."""
    warps = BLOCKS * WARPS
    live = [ALL if warp % WARPS < WARPS - 1 else LIVE for warp in range(warps)]
    active = [mask & LIVE | mask & 1 << 31 for mask in live]
    stack: list[list[Open]] = [[] for _ in range(warps)]
    run: list[tuple] = []
    for _ in range(draw(st.integers(1, 30))):
        warp = draw(st.integers(0, warps - 1))
        name = draw(
            st.sampled_from(["instruction", "barrier", "release", "acquire", "if", "fi", "exit"])
        )
        location, wide = draw(st.integers(0, _LOCATIONS - 1)), draw(st.booleans())
        some = active[warp] & draw(st.sampled_from([0b1, 0b10, 0b110]))
        if name == "barrier":
            run.append(("barrier", warp // WARPS))
        elif name == "fi" and stack[warp]:
            top = stack[warp].pop()
            if top.waiting:
                stack[warp].append(Open(0, top.whole))
                active[warp] = top.waiting
                run.append(("branch", warp, EventKind.ELSE, top.waiting))
            else:
                active[warp] = top.whole & live[warp]
                run.append(("branch", warp, EventKind.FI, top.whole))
        elif not active[warp]:
            continue
        elif name in ("release", "acquire"):
            run.append((name, warp, location, wide))
        elif name == "exit" and some:
            live[warp] &= ~some
            active[warp] &= ~some
            run.append(("branch", warp, EventKind.EXIT, some))
        elif name == "if" and some and active[warp] & ~some:
            stack[warp].append(Open(active[warp] & ~some, active[warp]))
            active[warp] = some
            run.append(("branch", warp, EventKind.IF, some))
        else:
            run.append(("instruction", warp))
    return run


@settings(max_examples=100, deadline=None)
@given(run=_runs())
def test_compressed_clocks_are_lossless(run):
    both = Both()
    for name, *arguments in run:
        getattr(both, name)(*arguments)
    both.check()


PLACE = Place(1, 0, range(2), 4)


def _knowledge(*times: int) -> Knowledge:
    return Knowledge(np.array(times, dtype=np.int32), {})


def test_formats():
    assert START.format == Format.CONVERGED
    one, other = START.without(~0b11, 5), START.without(0b11, 5)
    assert (one.format, other.format, one.others) == (Format.DIVERGED, Format.DIVERGED, 5)
    inner = one.without(0b10, 7)
    assert inner.format == Format.NESTED_DIVERGED
    assert [int(time) for time in np.asarray(inner.others)[1:3]] == [7, 5]
    assert START.acquire(PLACE, _knowledge(0, 0, 3, 0)).format == Format.SPARSE
    assert one.reconverge(other, 0, 9).format == Format.CONVERGED


def test_join_gives_an_object_itself_if_the_other_adds_nothing():
    known = _knowledge(0, 0, 4, 5)
    assert known.join(_knowledge(0, 0, 4, 4)) is known
    assert _knowledge(0, 0, 4, 4).join(known) is known
    assert known.join(NOTHING) is known
    assert START.acquire(PLACE, _knowledge(0, 8, 0, 0)) is START  # its own past
    assert known.join(_knowledge(6, 0, 0, 0)).warps.tolist() == [6, 0, 4, 5]


@pytest.mark.parametrize(("lane", "time"), [(0, 9), (1, 2), (5, 2)])
def test_published_knowledge_has_the_lanes_apart(lane, time):
    clock = START._replace(mask=0b1, others=2)
    assert clock.publish(PLACE, 9).time_of(1, lane) == time
