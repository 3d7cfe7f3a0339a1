"""Races that a GPU detector reports, each with both accesses.

Steps and reports of the hardware have block slots, and little about the earlier access.  The events
of a trace add the rest: grid blocks, and the earlier access itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Scope
from racetrap.golden_model.gpu.report import RingReport
from racetrap.golden_model.trace import Trace

#: Key of a race: program counter and the detector's number of the kind of race.
UniqueRace = tuple[int, int]
#: Different races that a detector reports, with the program counters of the earlier accesses.
Reports = Mapping[UniqueRace, Collection[int]]


@dataclass(frozen=True, slots=True)
class Access:
    """One of the two accesses of a race.

    Parameters
    ----------
    event : int
        Number of the event in the trace, from 0.
    kind, scope, strong, op : str, str or None, bool, str or None
        What it was: ``load``, ``store`` or ``atomic``; scope and op only of atomics.
    pc : int
        Its program counter.
    grid_block : int
        Index of its block in the grid.
    sm, slot, warp : int
        SM, block slot and warp slot.
    location : str or None
        Line of the source, such as ``file.cu:12``, if the trace has it.
    """

    event: int
    kind: str
    scope: str | None
    strong: bool
    op: str | None
    pc: int
    grid_block: int
    sm: int
    slot: int
    warp: int
    location: str | None = None

    def __str__(self) -> str:
        if self.kind == "atomic":
            what = f"{self.scope}-scope atomic {self.op}"
        else:
            what = f"{'strong' if self.strong else 'weak'} {self.kind}"
        place = f" ({self.location})" if self.location else ""
        return (
            f"{what} at pc {self.pc:#x}{place} by grid block {self.grid_block} "
            f"(SM {self.sm}, slot {self.slot}), warp {self.warp}, event {self.event}"
        )

    def party(self) -> str:
        """Kind, block and warp, and the line if it is known."""
        place = f" at {self.location}" if self.location else ""
        return f"{self.kind} of grid block {self.grid_block} warp {self.warp}{place}"


@dataclass(frozen=True)
class Finding:
    """A race: the report as the hardware gives it, and the two accesses."""

    report: RingReport
    access: Access
    earlier: Access

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        return (
            f"The {self.access.party()} races with the {self.earlier.party()}: "
            f"{self.report.reason}."
        )


class RaceFinder(ABC):
    """Joins a detector's steps with their events of a trace.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    trace : Trace
        The trace, with source lines of program counters.
    """

    def __init__(self, params: Any, region: Any, trace: Trace) -> None:
        self.params, self.region = params, region
        self._locations = trace.header.locations
        self._count = 0
        self._grid_blocks: dict[tuple[int, int], int] = {}
        # By metadata entry: number, event and grid block of its owning access.  A launch keeps
        # them: the first access after it owns its entry in any case.
        self._owners: dict[int, tuple[int, Event, int]] = {}

    @abstractmethod
    def entry_of(self, step: Any) -> int | None:
        """Metadata entry of a step; None if its word is not monitored."""

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
        """Races of a whole trace, as they are found; memory is independent of their number.

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
        atomic = event.kind == EventKind.ATOMIC
        return Access(
            event=number,
            kind=EventKind(event.kind).name.lower(),
            scope=Scope(event.scope).name.lower() if atomic else None,
            strong=event.strong,
            op=AtomicOp(event.op).name.lower() if atomic else None,
            pc=event.pc,
            grid_block=grid_block,
            sm=event.sm,
            slot=event.slot,
            warp=event.warp,
            location=self._locations.get(event.pc),
        )


def reports_of(findings: Iterable[Finding]) -> Reports:
    """Different races among those that a detector reports."""
    reports: defaultdict[UniqueRace, set[int]] = defaultdict(set)
    for finding in findings:
        reports[finding.report.key].add(finding.earlier.pc)
    return reports
