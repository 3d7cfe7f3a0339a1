"""Fences of a warp: the knowledge that later releases publish, and locks acquired with them.

Ref: ScoRD (ISCA'20) Sections II-B and IV-A (lock inference).
"""

from __future__ import annotations

from functools import cached_property

from racetrap.golden_model.barracuda.compressed import NOTHING, Clock, Knowledge, Place
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.events import WARP_SIZE, lanes_of


class Fence:
    """Knowledge at a fence, which releases after it publish.

    Parameters
    ----------
    clock : Clock
        Clock of the lanes at the fence.
    place : Place
        Their warp.
    now : int
        Row of the fence.
    """

    def __init__(self, clock: Clock, place: Place, now: int) -> None:
        self._parts = clock, place, now
        self._joined: dict[int, tuple[Knowledge, Knowledge]] = {}

    @cached_property
    def known(self) -> Knowledge:
        """Everything before the fence."""
        clock, place, now = self._parts
        return clock.publish(place, now)

    def join(self, released: Knowledge, /) -> Knowledge:
        """Join of this with what has been released at a location.

        Lanes often release many locations with one history: each join is computed once.
        """
        joined = self._joined.get(id(released))
        if joined is None:
            joined = self._joined[id(released)] = released, self.known.join(released)
        return joined[1]


class Fences:
    """Fences of the lanes of a warp.

    Attributes
    ----------
    last, last_device : list of Fence or None
        By lane the last fence of any scope, and of device scope.
    """

    def __init__(self) -> None:
        self.last: list[Fence | None] = [None] * WARP_SIZE
        self.last_device: list[Fence | None] = [None] * WARP_SIZE
        self._block_locks: dict[int, Knowledge] = {}
        self._device_locks: dict[int, Knowledge] = {}

    def take(self, lane: int, of_block: Knowledge, for_all: Knowledge | None) -> None:
        """Take a lock: it is acquired at the next fence, at device scope if the fence has it too.

        Parameters
        ----------
        lane : int
            Lane that takes it.
        of_block : Knowledge
            What was released at the lock to the block.
        for_all : Knowledge or None
            What was released at the lock to all, if the lane takes it at device scope.
        """
        self._block_locks[lane] = self._block_locks.get(lane, NOTHING).join(of_block)
        if for_all is not None:
            self._device_locks[lane] = self._device_locks.get(lane, NOTHING).join(for_all)

    def fence(self, warp: Warp, mask: int, device: bool, now: int) -> None:
        """A fence by the lanes of a mask."""
        waiting = [self._block_locks, self._device_locks][: 1 + device]
        if any(waiting):
            lanes = lanes_of(mask)
            warp.acquire(*(locks.pop(lane) for locks in waiting for lane in lanes if lane in locks))
        fence = Fence(warp.clock, warp.place, now)
        for lane in lanes_of(mask):
            self.last[lane] = fence
            if device:
                self.last_device[lane] = fence
