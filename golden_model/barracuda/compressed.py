"""Compressed vector clocks: a warp's clock in a few numbers.

Time is the row of an event in its kernel: it grows with every event of a thread, so it serves as
the thread's own clock, and an epoch need not be stored with the access.  All active lanes of a warp
share one clock, as ENDINSN joins them after each instruction; each lane knows all active lanes up
to the event before, and those that wait for the second side of a branch, until they run again.  In
addition, by format:

* CONVERGED: the block's time, up to which all threads of the block are known (last barrier);
* DIVERGED: one time up to which the inactive lanes are known;
* NESTED_DIVERGED: a time for each lane;
* SPARSE: times of threads known from releases, beyond barriers.  The paper maps threads to times;
  here a warp has one time for all its lanes, and lanes have times only where they differ.  A
  thread's time is the greater of the two, so nothing is lost.

Ref: BARRACUDA (PLDI'17) Sections 4.3.1 and 4.3.2, Fig. 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.lane_times import Times, adds, later, of_lane, outside, split
from racetrap.golden_model.events import ALL_LANES


class Format(Enum):
    """The paper's formats of a thread's clock, the simplest first."""

    CONVERGED = "converged"
    DIVERGED = "diverged"
    NESTED_DIVERGED = "nested-diverged"
    SPARSE = "sparse"


class Place(NamedTuple):
    """Place of a warp in its kernel.

    Parameters
    ----------
    warp, block : int
        Its number and its block's.
    warps : range
        All warps of the block.
    total : int
        Number of times in a ``Knowledge``: one for each warp of the kernel, or for each use of
        them.
    """

    warp: int
    block: int
    warps: range
    total: int

    @classmethod
    def of(cls, kernel: Kernel, warp: int, uses: int) -> Place:
        """Place of a warp of a kernel, in knowledge with several times of each warp."""
        block = int(kernel.warp_block[warp])
        return cls(warp, block, kernel.warps_of(block), uses * len(kernel.warp_block))

    @property
    def block_warps(self) -> slice:
        """The warps of the block in an array over all warps."""
        return slice(self.warps.start, self.warps.stop)


class Knowledge(NamedTuple):
    """Times up to which threads are known; immutable.

    Parameters
    ----------
    warps : numpy.ndarray
        By warp the time up to which all its lanes are known.
    lanes : dict of int to Times
        Times of the lanes of those warps of which some are known for longer.
    """

    warps: np.ndarray
    lanes: dict[int, Times]

    def time_of(self, warp: int, lane: int) -> int:
        """Time up to which a thread is known."""
        if self is NOTHING:
            return 0
        return max(int(self.warps[warp]), of_lane(self.lanes.get(warp, 0), lane))

    def more_lanes(self, other: Knowledge) -> dict[int, Times]:
        """Times of lanes that only the other has."""
        if self is NOTHING or not other.lanes:
            return other.lanes
        return {
            warp: later(times, self.lanes.get(warp, 0))
            for warp, times in other.lanes.items()
            if adds(times, later(self.lanes.get(warp, 0), int(self.warps[warp])))
        }

    def join(self, other: Knowledge, /) -> Knowledge:
        """Join of both; one of the two objects itself if the other adds nothing."""
        if other is self or other is NOTHING:
            return self
        if self is NOTHING:
            return other
        lanes = self.more_lanes(other)
        if not lanes and not (other.warps > self.warps).any():
            return self
        if not self.lanes and not (self.warps > other.warps).any():
            return other
        return Knowledge(np.maximum(self.warps, other.warps), self.lanes | lanes)

    def outside(self, place: Place) -> Knowledge:
        """Knowledge of other blocks."""
        if self is NOTHING:
            return NOTHING
        warps = self.warps.copy()
        warps[place.block_warps] = 0
        lanes = {warp: times for warp, times in self.lanes.items() if warp not in place.warps}
        return Knowledge(warps, lanes) if lanes or warps.any() else NOTHING


NOTHING = Knowledge(np.zeros(0, dtype=np.int32), {})


def join_all(parts: Iterable[Knowledge]) -> Knowledge:
    """Join of all of them."""
    known = NOTHING
    for part in parts:
        known = known.join(part)
    return known


class Clock(NamedTuple):
    """Clock of the active lanes of a warp; immutable.

    Parameters
    ----------
    mask : int
        Lanes that are known up to now: the active ones, and those that wait while they run.
    others : int or numpy.ndarray
        Time up to which the other lanes of the warp are known; for each lane if they differ.
    block_time : int
        Time up to which all threads of the block are known.
    far : Knowledge
        Times known from releases.
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

    def time_of(self, place: Place, block: int, warp: int, lane: int, now: int) -> int:
        """Time up to which a thread is known."""
        known = self.far.time_of(warp, lane)
        if block == place.block:
            known = max(known, self.block_time)
        if warp == place.warp:
            known = max(known, of_lane(self.lane_times(now), lane))
        return known

    def publish(self, place: Place, now: int) -> Knowledge:
        """Knowledge of the lanes, including their own past up to ``now``."""
        far = self.far
        warps = np.zeros(place.total, dtype=np.int32) if far is NOTHING else far.warps.copy()
        block = warps[place.block_warps]
        np.maximum(block, self.block_time, out=block)
        own = self.lane_times(now)
        if isinstance(own, int):
            warps[place.warp] = own
            return Knowledge(warps, far.lanes)
        lanes = far.lanes | {place.warp: later(own, far.lanes.get(place.warp, 0))}
        return Knowledge(warps, lanes)

    def acquire(self, place: Place, known: Knowledge) -> Clock:
        """Clock joined with what was released; this object itself if that adds nothing."""
        if known is NOTHING or not self._adds(place, known):
            return self
        return self._replace(far=self.far.join(known))

    def _adds(self, place: Place, known: Knowledge) -> bool:
        """Whether more was released than is known from barriers, lockstep and earlier releases."""
        more = known.warps > (0 if self.far is NOTHING else self.far.warps)
        own = place.block_warps
        more[own] &= known.warps[own] > self.block_time
        if self.mask == ALL_LANES:
            more[place.warp] = False
        if more.any():
            return True
        return any(
            adds(times, self.block_time if warp in place.warps else 0)
            for warp, times in self.far.more_lanes(known).items()
            if warp != place.warp or self.mask != ALL_LANES
        )

    def without(self, lanes: int, now: int) -> Clock:
        """Clock after a divergence: lanes on the other side are known only up to now."""
        mask = self.mask & ~lanes
        return self._replace(mask=mask, others=outside(self.lane_times(now), mask))

    def reconverge(self, other: Clock, gone: int, now: int) -> Clock:
        """Clock of two sides after the branch, without the lanes that have exited."""
        mask = (self.mask | other.mask) & ~gone
        times = later(self.lane_times(now), other.lane_times(now))
        far = self.far.join(other.far)
        return Clock(mask, outside(times, mask), max(self.block_time, other.block_time), far)


#: Clock of every warp when its kernel begins.
START = Clock()
