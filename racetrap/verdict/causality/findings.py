"""Races of a trace with both accesses, from the steps of golden model or hardware.

An entry names the warp slot, lane and clock of the last accesses.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import Against, RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Access, Finding, RaceFinder
from racetrap.verdict.gpu.fit import check_fit_with_window, region_with_window

#: Number, event and grid block of an access.
_Made = tuple[int, Event, int]


@dataclass(frozen=True)
class CausalityFinding(Finding):
    """A race that causality reports, with the lanes of both threads."""

    report: RaceReport

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        report = self.report
        if report.race == RaceKind.UNEQUAL_STORE:
            return f"The {self.access.party()} races with itself: {report.reason}."
        return (
            f"Lane {report.lane} of the {self.access.party()} races with lane {report.owner_lane} "
            f"of the {self.earlier.party()}: {report.reason}."
        )


class CausalityFinder(RaceFinder):
    """Joins steps, and the races that the collector reports, with their events."""

    def __init__(self, params: CausalityParams, region: Region, trace: Trace) -> None:
        super().__init__(params, region, trace)
        # By entry, and byte of its word: who wrote and who has read last.
        self._writers: defaultdict[int, dict[int, _Made]] = defaultdict(dict)
        self._readers: defaultdict[int, dict[int, _Made]] = defaultdict(dict)
        # Steps that race or may do so, with the accesses that they meet.
        self._open: dict[int, tuple[Step, _Made, dict[Against, _Made]]] = {}

    def entry_of(self, step: Step) -> int | None:
        """Entry of the word of a step."""
        return entry_of(self.params, self.region, step.packet)

    def finding(self, step: Any, sequence: int, access: Access, earlier: Access) -> Finding:
        """The race that the collector reports."""
        bank = bank_of(self.params, step.step.packet.word)
        report = RaceReport.from_race(self.params, step, bank, sequence)
        return CausalityFinding(report, access, earlier)

    def take(self, number: int, event: Event, steps: Iterable[Any]) -> Iterator[Finding]:
        """Races that are reported with event ``number``, from its steps and their races."""
        if event.kind == EventKind.BLOCK_PLACED:
            self._grid_blocks[event.sm, event.slot] = event.grid_block
        current = (number, event, self._grid_blocks.get((event.sm, event.slot), 0))
        for step in steps:
            if isinstance(step, Race):
                yield from self._reported(step)
            else:
                self._take_step(step, current)

    def _reported(self, race: Race) -> Iterator[Finding]:
        _, current, earlier = self._open[id(race.step.packet)]
        sides = [side for side in (Against.WRITER, Against.READER) if race.against & side]
        for made in [earlier[side] for side in sides] or [current]:
            self._count += 1
            access, other = self._access(*current), self._access(*made)
            yield self.finding(race, self._count - 1, access, other)

    def _take_step(self, step: Step, current: _Made) -> None:
        index = self.entry_of(step)
        if index is None:
            return
        if step.displaced:
            self._writers[index], self._readers[index] = {}, {}
        packet, before = step.packet, step.before
        touched = [byte for byte in range(WORD_BYTES) if packet.bytes >> byte & 1]
        if step.against or step.undecided or packet.unequal:
            earlier: dict[Against, _Made] = {}
            for against, side, made in (
                (Against.WRITER, before.writer, self._writers[index]),
                (Against.READER, before.reader, self._readers[index]),
            ):
                common = [byte for byte in touched if side and side.bytes >> byte & 1]
                if common:
                    earlier[against] = made[common[0]]
            self._open[id(packet)] = step, current, earlier
        table = self._writers if packet.writes else self._readers
        after = step.after.writer if packet.writes else step.after.reader
        # Bytes of accesses that the entry joins with this one stay.
        kept = table[index] if after and after.bytes != packet.bytes else {}
        table[index] = kept | dict.fromkeys(touched, current)
        if packet.writes:
            self._readers[index] = {}


def find_races(
    trace: Trace, params: CausalityParams, events: Iterable[Event] | None = None
) -> tuple[Causality, Iterator[Finding]]:
    """Run the golden model over a trace; lanes are independent if they were in the trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    params : CausalityParams
        Configuration.
    events : iterable of Event, optional
        Events of the trace, if wrapped by the caller.

    Returns
    -------
    Causality, iterator of Finding
        The model, and every race with both accesses as it is found: iterating advances the run.

    Raises
    ------
    ValueError
        If the trace does not fit the configuration; in the iteration, if an event does not, which
        it names.
    """
    params = params.with_lanes(bool(trace.header.independent_threads))
    check_fit_with_window(trace, params)
    region = region_with_window(trace, params)
    finder = CausalityFinder(params, region, trace)
    model = Causality(params, region, keep_races=False)
    return model, finder.take_all(
        trace if events is None else events, lambda event: [*model.run(event), *model.found]
    )
