"""Instructions between the events of a trace, counted while a device runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.warp_schedulers import WarpScheduler

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


class InstructionCounts:
    """Instructions that the warp of each event ran since its event before.

    One object for all launches of a device, whose ``wrap`` is ``watch``.
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._counts: list[int] = []

    def watch(self, scheduler: WarpScheduler) -> WarpScheduler:
        """The scheduler, which now counts."""
        return _Counting(scheduler, self)

    def add(self, row: int, count: int) -> None:
        """Note how many instructions there are up to an event, with its own."""
        self._rows.append(row)
        self._counts.append(count)

    @property
    def latest(self) -> int:
        """The count noted last."""
        return self._counts[-1]

    def trace(self, trace: Trace) -> Trace:
        """The device's trace, with the counts if there are any."""
        if not self._rows:
            return trace
        return trace.with_instructions(self._rows, self._counts)


class _Counting(WarpScheduler):
    """A scheduler whose turns are counted; a turn has one event that others see, at its end."""

    def __init__(self, own: WarpScheduler, counts: InstructionCounts) -> None:
        self._own, self._counts = own, counts
        self._before: Counter[Warp] = Counter()
        self._executed = self._events = 0

    def add(self, warp: Warp) -> None:
        self._own.add(warp)

    def first(self) -> Warp | None:
        warp = self._own.first()
        if warp is not None:
            self._events = warp.launch.log.count
        return warp

    def after(self, warp: Warp, status: int | None) -> Warp | None:
        launch = warp.launch
        executed, events = launch.executed, launch.log.count
        self._before[warp] += executed - self._executed
        self._executed = executed
        if events != self._events:
            self._counts.add(self._events, self._before.pop(warp))
            self._events = events
        return self._own.after(warp, status)
