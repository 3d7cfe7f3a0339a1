"""Races of a trace with both accesses, from the steps of golden model or hardware.

A word's state names the thread of its last access.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.region import bank_of
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Step
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Access, Finding, RaceFinder
from racetrap.verdict.gpu.fit import check_fit_with_window, region_with_window


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


class HiraceFinder(RaceFinder):
    """Joins HiRace's steps with their events."""

    def entry_of(self, step: Step) -> int | None:
        """Entry of the word of a step."""
        return entry_of(self.params, self.region, step.packet)

    def finding(self, step: Step, sequence: int, access: Access, earlier: Access) -> HiraceFinding:
        """The race of a step."""
        bank = bank_of(self.params, step.packet.word)
        report = RaceReport.from_step(self.params, step, bank, sequence)
        return HiraceFinding(report, access, earlier)


def find_races(
    trace: Trace, params: HiraceParams, events: Iterable[Event] | None = None
) -> tuple[Hirace, Iterator[Finding]]:
    """Run the golden model over a trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    params : HiraceParams
        Configuration.
    events : iterable of Event, optional
        Events of the trace, if wrapped by the caller.

    Returns
    -------
    Hirace, iterator of Finding
        The model, and every race with both accesses as it is found: iterating advances the run.

    Raises
    ------
    ValueError
        If the trace does not fit the configuration; in the iteration, if an event does not, which
        it names.
    """
    check_fit_with_window(trace, params)
    region = region_with_window(trace, params)
    finder = HiraceFinder(params, region, trace)
    hirace = Hirace(params, region, keep_races=False)
    return hirace, finder.take_all(trace if events is None else events, hirace.run)
