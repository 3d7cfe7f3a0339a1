"""Races of a trace with both accesses, from the steps of golden model or hardware.

A word names the thread of the last access.  The events of a trace have the rest: grid blocks, and
which access it was.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.hirace.entry_locator import entry_of
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Step
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Access, Finding
from racetrap.verdict.hirace.fit import check_fit, region_of


@dataclass(frozen=True)
class HiraceFinding(Finding):
    """A race that HiRace reports, with the lanes of both threads."""

    report: RaceReport

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        report = self.report
        return (
            f"Lane {report.lane} of the {self.access.party()} races with lane {report.owner_lane} "
            f"of the {self.earlier.party()}: {report.reason}."
        )


class RaceFinder:
    """Joins the detector's steps with the events that they are of.

    Parameters
    ----------
    params : HiraceParams
        Configuration.
    region : Region
        Monitored region.
    locations : mapping of int to str
        Line of the source of a program counter, as a trace's header has it.
    """

    def __init__(self, params: HiraceParams, region: Region, locations: Mapping[int, str]) -> None:
        self._params, self._region, self._locations = params, region, locations
        self._count = 0
        self._grid_blocks: dict[tuple[int, int], int] = {}
        # By entry: number, event and grid block of the last access.
        self._last: dict[int, tuple[int, Event, int]] = {}

    def take(self, number: int, event: Event, steps: Iterable[Step]) -> Iterator[HiraceFinding]:
        """Races in event ``number`` of the trace, from all its steps."""
        if event.kind == EventKind.BLOCK_PLACED:
            self._grid_blocks[event.sm, event.slot] = event.grid_block
        if event.kind > EventKind.ATOMIC:
            return
        current = (number, event, self._grid_blocks[event.sm, event.slot])
        for step in steps:
            entry = entry_of(self._params, self._region, step.packet)
            if entry is None:
                continue
            if step.race:
                bank = bank_of(self._params, step.packet.word)
                report = RaceReport.from_step(self._params, step, bank, self._count)
                self._count += 1
                yield HiraceFinding(
                    report, self._access(*current), self._access(*self._last[entry])
                )
            self._last[entry] = current

    def _access(self, number: int, event: Event, grid_block: int) -> Access:
        return Access.from_event(number, event, grid_block, self._locations.get(event.pc))


def find_races(
    trace: Trace, params: HiraceParams, events: Iterable[Event] | None = None
) -> tuple[Hirace, Iterator[HiraceFinding]]:
    """Run the golden model over a trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    params : HiraceParams
        Configuration.
    events : iterable of Event, optional
        Events of the trace, if a caller watches them pass.

    Returns
    -------
    Hirace, iterator of HiraceFinding
        The model, and every race with both accesses as it is found: the run goes on with the
        iteration.

    Raises
    ------
    ValueError
        If the trace does not fit the configuration; in the iteration, if an event does not, which
        it names.
    """
    check_fit(trace, params)
    region = region_of(trace, params)
    hirace = Hirace(params, region, keep_races=False)
    finder = RaceFinder(params, region, trace.header.locations)

    def found() -> Iterator[HiraceFinding]:
        for number, event in enumerate(trace if events is None else events):
            try:
                yield from finder.take(number, event, hirace.run(event))
            except ValueError as error:
                raise ValueError(f"Event {number}: {error}") from error

    return hirace, found()
