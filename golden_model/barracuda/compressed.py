"""Compressed vector clocks: what a warp knows of all threads, in a few numbers.

Time is the row of an event in its kernel: it grows with every event of a thread, so it serves as
the thread's own clock, and an epoch need not be stored with the access.  All active lanes of a
warp have one clock between them, as ENDINSN joins them after each instruction; each lane knows
all active lanes up to the event before.  So it does those that wait for the second side of a
branch, as long as they have not run on.  To that come, by format,

* CONVERGED: the block's time, up to which all threads of the block are known (last barrier);
* DIVERGED: one time up to which the inactive lanes are known;
* NESTED_DIVERGED: a time for each lane;
* SPARSE: times of threads beyond barriers, got from releases.  The paper maps threads to times;
  here the map has levels, a time for a whole block, for a whole warp, or for each lane of a
  warp.  A thread's time is the greatest of the three, so nothing is lost.

Ref: BARRACUDA (PLDI'17) Sections 4.3.1 and 4.3.2, Fig. 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import ALL_LANES
from racetrap.golden_model.barracuda.lane_times import Times, adds, later, of_lane, outside, split

__all__ = ["NOTHING", "START", "Clock", "Format", "Knowledge", "Place", "join_all"]


class Format(Enum):
    """The paper's formats of a thread's clock, the simplest first."""

    CONVERGED = "converged"
    DIVERGED = "diverged"
    NESTED_DIVERGED = "nested-diverged"
    SPARSE = "sparse"


class Place(NamedTuple):
    """Where a warp is: its number, its block's, and all warps of the block."""

    warp: int
    block: int
    warps: range


class Knowledge(NamedTuple):
    """Times up to which threads are known, by block and by warp; never changed."""

    blocks: dict[int, int]
    warps: dict[int, Times]

    def time_of(self, block: int, warp: int, lane: int) -> int:
        """Time up to which a thread is known."""
        return max(self.blocks.get(block, 0), of_lane(self.warps.get(warp, 0), lane))

    def join(self, other: Knowledge) -> Knowledge:
        """What both know; one of the two objects itself if the other adds nothing."""
        if other is self or other is NOTHING:
            return self
        if self is NOTHING:
            return other
        blocks = {
            block: time for block, time in other.blocks.items() if time > self.blocks.get(block, 0)
        }
        warps = {
            warp: later(times, known)
            for warp, times in other.warps.items()
            if times is not (known := self.warps.get(warp, 0)) and adds(times, known)
        }
        if not blocks and not warps:
            return self
        return Knowledge(self.blocks | blocks, self.warps | warps)

    def outside(self, place: Place) -> Knowledge:
        """The part about other blocks."""
        warps = {warp: times for warp, times in self.warps.items() if warp not in place.warps}
        blocks = {block: time for block, time in self.blocks.items() if block != place.block}
        return Knowledge(blocks, warps) if warps or blocks else NOTHING

    def beyond(self, clock: Clock, place: Place) -> Knowledge:
        """The part that a clock does not have from barriers and its own lanes."""
        warps = {
            warp: times
            for warp, times in self.warps.items()
            if warp not in place.warps
            or (adds(times, clock.block_time) and (warp != place.warp or clock.mask != ALL_LANES))
        }
        blocks = {
            block: time
            for block, time in self.blocks.items()
            if block != place.block or time > clock.block_time
        }
        return Knowledge(blocks, warps) if warps or blocks else NOTHING


NOTHING = Knowledge({}, {})


def join_all(parts: Iterable[Knowledge]) -> Knowledge:
    """What all of them know."""
    known = NOTHING
    for part in parts:
        known = known.join(part)
    return known


class Clock(NamedTuple):
    """What the active lanes of a warp know; never changed.

    Parameters
    ----------
    mask : int
        Lanes that are known up to now: the active ones, and those that wait while they run.
    others : int or numpy.ndarray
        Time up to which the other lanes of the warp are known; for each lane if they differ.
    block_time : int
        Time up to which all threads of the block are known.
    far : Knowledge
        What releases have told.
    """

    mask: int = ALL_LANES
    others: int | np.ndarray = 0
    block_time: int = 0
    far: Knowledge = NOTHING

    @property
    def format(self) -> Format:
        """The simplest format that holds the clock."""
        if self.far is not NOTHING:
            return Format.SPARSE
        if self.mask == ALL_LANES:
            return Format.CONVERGED
        return Format.DIVERGED if isinstance(self.others, int) else Format.NESTED_DIVERGED

    def lane_times(self, now: int) -> Times:
        """Times up to which the lanes of the warp are known, but for barriers and releases."""
        return split(self.mask, now, self.others)

    def near_time(self, place: Place, block: int, warp: int, lane: int, now: int) -> int:
        """Time up to which a thread is known from its own warp and from barriers."""
        known = self.block_time if block == place.block else 0
        if warp == place.warp:
            known = max(known, of_lane(self.lane_times(now), lane))
        return known

    def time_of(self, place: Place, block: int, warp: int, lane: int, now: int) -> int:
        """Time up to which a thread is known."""
        near = self.near_time(place, block, warp, lane, now)
        return max(near, self.far.time_of(block, warp, lane))

    def publish(self, place: Place, now: int) -> Knowledge:
        """All that the lanes know, their own past up to ``now`` with it."""
        own = later(self.lane_times(now), self.far.warps.get(place.warp, 0))
        warps = self.far.warps | {place.warp: own}
        if not self.block_time:
            return Knowledge(self.far.blocks, warps)
        return Knowledge(self.far.blocks | {place.block: self.block_time}, warps)

    def acquire(self, place: Place, known: Knowledge) -> Clock:
        """Clock with what was released; this object itself if that adds nothing."""
        far = self.far.join(known.beyond(self, place))
        return self if far is self.far else self._replace(far=far)

    def without(self, lanes: int, now: int) -> Clock:
        """Clock for which some lanes are known up to now only, as they go another way."""
        mask = self.mask & ~lanes
        return self._replace(mask=mask, others=outside(self.lane_times(now), mask))

    def meet(self, other: Clock, gone: int, now: int) -> Clock:
        """Clock of two sides after the branch, without the lanes that are gone."""
        mask = (self.mask | other.mask) & ~gone
        times = later(self.lane_times(now), other.lane_times(now))
        far = self.far.join(other.far)
        return Clock(mask, outside(times, mask), max(self.block_time, other.block_time), far)


#: Clock of every warp when its kernel begins.
START = Clock()
