"""Warp schedulers: the order in which warps take turns.

A turn is one basic block: some arithmetic and the memory access, branch or barrier that
follows.  A warp yields when it branches backward after an atomic or a strong load, so that the
warps that it may be waiting for get on, whatever the order.

Ref: Rogers et al., "Cache-Conscious Wavefront Scheduling" (MICRO'12), Section 2
(greedy-then-oldest).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING

from racetrap.golden_model.ptx_memory_model.operational import Choices, Kind, Story
from racetrap.sim.gpu.executor.machine.warp import BLOCKED, ENDED, YIELD

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


class WarpScheduler(ABC):
    """Chooses among the warps that can go on."""

    @abstractmethod
    def add(self, warp: Warp) -> None:
        """A warp can go on that could not before."""

    @abstractmethod
    def after(self, warp: Warp, status: int | None) -> Warp | None:
        """The warp whose turn is next after that of ``warp``; ``None`` if no warp can go on."""

    @abstractmethod
    def first(self) -> Warp | None:
        """The first warp."""


def unwrapped(scheduler: WarpScheduler) -> WarpScheduler:
    """The scheduler, without an observer of its turns."""
    return scheduler


class _RoundRobin(WarpScheduler):
    """Warps take turns."""

    def __init__(self) -> None:
        self._ready: deque[Warp] = deque()

    def add(self, warp: Warp) -> None:
        self._ready.append(warp)

    def first(self) -> Warp | None:
        return self._ready.popleft() if self._ready else None

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        if status is None or (status != BLOCKED and status != ENDED):
            self._ready.append(warp)
        return self._ready.popleft() if self._ready else None


class _InOrder(WarpScheduler):
    """The oldest warp, or the newest one, runs until it stalls or yields.

    Warps that have yielded, or come later, wait until all others have had their chance.
    """

    def __init__(self, *, newest: bool = False) -> None:
        self._newest = newest
        self._round: list[Warp] = []
        self._next_round: list[Warp] = []

    def add(self, warp: Warp) -> None:
        self._next_round.append(warp)

    def first(self) -> Warp | None:
        if not self._round:
            self._round = sorted(
                self._next_round, key=lambda warp: warp.age, reverse=not self._newest
            )
            self._next_round = []
        return self._round.pop() if self._round else None

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        if status == YIELD:
            self._next_round.append(warp)
        elif status != BLOCKED and status != ENDED:
            return warp
        return self.first()


class _GreedyThenOldest(WarpScheduler):
    """SMs take turns; each runs its warp until that stalls or yields, then its oldest."""

    def __init__(self) -> None:
        self._orders: dict[int, _InOrder] = {}
        self._turns: deque[Warp] = deque()
        self._busy: set[int] = set()

    def add(self, warp: Warp) -> None:
        order = self._orders.setdefault(warp.sm, _InOrder())
        order.add(warp)
        if warp.sm not in self._busy:
            self._go_on(warp.sm, order.first())

    def _go_on(self, sm: int, warp: Warp | None) -> None:
        if warp is None:
            self._busy.discard(sm)
        else:
            self._busy.add(sm)
            self._turns.append(warp)

    def first(self) -> Warp | None:
        return self._turns.popleft() if self._turns else None

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        self._go_on(warp.sm, self._orders[warp.sm].after(warp, status))
        return self.first()


class _Random(WarpScheduler):
    """Any warp that can run, by a seed."""

    def __init__(self, seed: int):
        self._ready: list[Warp] = []
        self._draw = Random(seed).random

    def add(self, warp: Warp) -> None:
        self._ready.append(warp)

    def first(self) -> Warp | None:
        ready = self._ready
        if not ready:
            return None
        chosen = int(self._draw() * len(ready))
        ready[chosen], ready[-1] = ready[-1], ready[chosen]
        return ready.pop()

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        if status != BLOCKED and status != ENDED:
            self._ready.append(warp)
        return self.first()


class ChosenOrder(WarpScheduler):
    """A warp runs until it stalls or yields, unless a choice says otherwise.

    There is a choice behind each strong access and fence; weak memory makes up for all others.

    Parameters
    ----------
    choices : Choices
        Takes the choice of the next warp: the first option is to go on.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._ready: deque[Warp] = deque()

    def add(self, warp: Warp) -> None:
        self._ready.append(warp)

    def first(self) -> Warp | None:
        if not self._ready:
            return None
        self._ready.rotate(-self._choices.take(Kind.TURN, len(self._ready), self._story))
        return self._ready.popleft()

    def _story(self, option: int) -> Story:
        warp = self._ready[option]
        place = warp.block.launch.block_position(warp.block.index)
        return Story(f"block {place} warp {warp.index}", "runs instead of the others")

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        weak = warp.launch.weak
        assert weak is not None
        if status == YIELD:
            self._ready.append(warp)
            weak.waits()
        elif status != BLOCKED and status != ENDED:
            if not weak.visible:
                return warp
            self._ready.appendleft(warp)
        weak.visible = False
        return self.first()


#: Makes a scheduler for one launch, from a seed that only the random one uses.
WARP_SCHEDULERS: Mapping[str, Callable[[int], WarpScheduler]] = {
    "in-order": lambda seed: _InOrder(),
    "newest-first": lambda seed: _InOrder(newest=True),
    "round-robin": lambda seed: _RoundRobin(),
    "greedy-then-oldest": lambda seed: _GreedyThenOldest(),
    "random": _Random,
}
