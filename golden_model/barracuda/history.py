"""History of the warps' clocks over a stretch of a kernel, and the order of accesses by it.

Ref: BARRACUDA (PLDI'17) Sections 3.3 and 4.3.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.compressed import NOTHING, Clock, Format
from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.shadow import Pairs
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.events import WARP_SIZE

#: Marks times that differ between lanes.
_BY_LANE = -1


class Order(NamedTuple):
    """For each pair whether the later access comes after the earlier one.

    Parameters
    ----------
    near : numpy.ndarray
        By program order, lockstep and barriers alone.
    any : numpy.ndarray
        By these and by releases and acquires.
    """

    near: np.ndarray
    any: np.ndarray


class History:
    """Clocks that the warps have had since the history began.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    warps : list of Warp
        Its warps, with the clocks at the beginning.
    """

    def __init__(self, kernel: Kernel, warps: list[Warp]) -> None:
        self._kernel = kernel
        self._warps = warps
        self._clocks: list[Clock] = [warp.clock for warp in warps]
        self._owners: list[int] = list(range(len(warps)))
        self._since: list[int] = [0] * len(warps)

    def add(self, row: int, warps: Sequence[int]) -> None:
        """Record the clocks of some warps after an event."""
        self._clocks += [self._warps[warp].clock for warp in warps]
        self._owners += warps
        self._since += [row + 1] * len(warps)

    def formats(self) -> Counter[Format]:
        """How many clocks were added in each format."""
        return Counter(clock.format for clock in self._clocks[len(self._warps) :])

    def order(self, pairs: Pairs) -> Order:
        """Order of pairs whose later access is not before the history's beginning."""
        return _Lookup(self._kernel, self._clocks, self._version(pairs.second), pairs).order()

    def _version(self, rows: np.ndarray) -> np.ndarray:
        """Number of the clock that the warp of each access had before it."""
        span = len(self._kernel.events) + 1
        since = np.array(self._owners) * span + np.array(self._since)
        by_warp = np.argsort(since)
        asked = self._kernel.warp[rows].astype(np.int64) * span + rows
        version: np.ndarray = by_warp[np.searchsorted(since[by_warp], asked, side="right") - 1]
        return version


class _Lookup:
    """Order of pairs, looked up in the clocks by array operations where possible."""

    def __init__(
        self, kernel: Kernel, clocks: list[Clock], version: np.ndarray, pairs: Pairs
    ) -> None:
        self._kernel = kernel
        self._clocks = clocks
        self._version = version
        self._time = pairs.first
        self._warp = kernel.warp[pairs.first].astype(np.int64)
        self._own_warp = kernel.warp[pairs.second].astype(np.int64)
        mask = kernel.events["mask"][pairs.first].astype(np.int64)
        # Any lane of an instruction represents all; 2**k has k+1 bits.
        self._lane = np.frexp((mask & -mask).astype(np.float64))[1].astype(np.int64) - 1

    def order(self) -> Order:
        near = self._by_barrier() | self._by_lockstep()
        ordered = near.copy()
        told = np.fromiter(map(_has_far, self._clocks), dtype=bool, count=len(self._clocks))
        asked = np.flatnonzero(~near & told[self._version])
        ordered[asked] = self._far_time(asked) >= self._time[asked]
        return Order(near, ordered)

    def _of_clocks(self, values: list[int]) -> np.ndarray:
        return np.array(values, dtype=np.int64)[self._version]

    def _by_barrier(self) -> np.ndarray:
        block = self._kernel.warp_block
        time = self._of_clocks([clock.block_time for clock in self._clocks])
        known: np.ndarray = (block[self._warp] == block[self._own_warp]) & (time >= self._time)
        return known

    def _by_lockstep(self) -> np.ndarray:
        known = self._warp == self._own_warp
        own = np.flatnonzero(known)
        mask = self._of_clocks([clock.mask for clock in self._clocks])[own]
        others = self._of_clocks(
            [c.others if isinstance(c.others, int) else _BY_LANE for c in self._clocks]
        )[own]
        lane, time = self._lane[own], self._time[own]
        known[own] = (mask >> lane & 1 != 0) | (others >= time)
        for pair in own[(others == _BY_LANE) & ~known[own]].tolist():
            times = self._clocks[self._version[pair]].others
            known[pair] = np.asarray(times)[self._lane[pair]] >= self._time[pair]
        return known

    def _far_time(self, asked: np.ndarray) -> np.ndarray:
        """Times up to which the threads of the earlier accesses are known from releases."""
        key = (self._version[asked] * len(self._kernel.warp_block) + self._warp[asked]) * WARP_SIZE
        keys, which = np.unique(key + self._lane[asked], return_inverse=True)
        times = np.zeros(len(keys), dtype=np.int64)
        for number, each in enumerate(keys.tolist()):
            rest, lane = divmod(each, WARP_SIZE)
            version, warp = divmod(rest, len(self._kernel.warp_block))
            times[number] = self._clocks[version].far.time_of(warp, lane)
        return times[which]


def _has_far(clock: Clock) -> bool:
    return clock.far is not NOTHING
