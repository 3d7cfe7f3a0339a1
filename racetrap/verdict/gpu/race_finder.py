"""Races of a trace with both accesses, from the steps of golden model or hardware.

A step knows block slots, and little of the earlier access.  The events of a trace have the rest:
grid blocks, and which access it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Access, Finding, Reports, UniqueRace


class RaceFinder(ABC):
    """Joins a detector's steps with the events of a trace that they are of.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    trace : Trace
        The trace, which knows the source line of a program counter.
    """

    def __init__(self, params: Any, region: Any, trace: Trace) -> None:
        self.params, self.region = params, region
        self._locations = trace.header.locations
        self._count = 0
        self._grid_blocks: dict[tuple[int, int], int] = {}
        # By metadata entry: number, event and grid block of the access that owns it.  A launch
        # leaves them: the first access after it owns its entry whatever was there.
        self._owners: dict[int, tuple[int, Event, int]] = {}

    @abstractmethod
    def entry_of(self, step: Any) -> int | None:
        """Metadata entry that a step is on; None if its word is not monitored."""

    def owns_entry(self, step: Any) -> bool:
        """Whether the access of a step without a race owns the entry from now on."""
        return True

    @abstractmethod
    def finding(self, step: Any, sequence: int, access: Access, earlier: Access) -> Finding:
        """The race of a step, number ``sequence`` of the trace."""

    def take(self, number: int, event: Event, steps: Iterable[Any]) -> Iterator[Finding]:
        """Races in event ``number`` of the trace, from all its steps."""
        if event.kind == EventKind.BLOCK_PLACED:
            self._grid_blocks[event.sm, event.slot] = event.grid_block
        if event.kind > EventKind.ATOMIC:
            return
        current = (number, event, self._grid_blocks[event.sm, event.slot])
        for step in steps:
            entry = self.entry_of(step)
            if entry is None:
                continue
            if step.race:
                self._count += 1
                yield self.finding(
                    step, self._count - 1, self._access(*current),
                    self._access(*self._owners[entry]),
                )  # fmt: skip
            if step.race or self.owns_entry(step):
                self._owners[entry] = current

    def take_all(
        self, events: Iterable[Event], run: Callable[[Event], Iterable[Any]]
    ) -> Iterator[Finding]:
        """Races of a whole trace, as they are found: memory does not grow with their number.

        Parameters
        ----------
        events : iterable of Event
            Its events.
        run : callable
            Steps of an event.

        Raises
        ------
        ValueError
            If an event does not fit the configuration; the error names it.
        """
        for number, event in enumerate(events):
            try:
                yield from self.take(number, event, run(event))
            except ValueError as error:
                raise ValueError(f"Event {number}: {error}") from error

    def _access(self, number: int, event: Event, grid_block: int) -> Access:
        return Access.from_event(number, event, grid_block, self._locations.get(event.pc))


def reports_of(findings: Iterable[Finding]) -> Reports:
    """Different races among those that a detector reports."""
    reports: defaultdict[UniqueRace, set[int]] = defaultdict(set)
    for finding in findings:
        reports[finding.report.key].add(finding.earlier.pc)
    return reports
