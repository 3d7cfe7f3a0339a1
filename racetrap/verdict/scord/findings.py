"""Races of a trace with both accesses, from the steps of golden model or hardware.

A report of the hardware names block slots and knows no more of the earlier access than its
warp.  The events of a trace have the rest: grid blocks, and which access it was.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.gpu.region import bank_of
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.packets import (
    ROWS_KEEPING_OWNER,
    Step,
    TableRow,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.scord.tracker import granule_mask
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Access, Finding, Reports, UniqueRace
from racetrap.verdict.gpu.fit import check_geometry, region_of


class ScordFinding(Finding):
    """A race that ScoRD reports."""

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        # Of several warps that loaded, the metadata names the first: maybe the one that stores.
        access, earlier = self.access, self.earlier
        same = (access.grid_block, access.warp) == (earlier.grid_block, earlier.warp)
        if not same:
            return super().sentence()
        other = "a load of another warp since its own"
        return f"The {access.party()} races with {other}: {self.report.reason}."


class RaceFinder:
    """Joins the detector's steps with the events that they are of.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    locations : mapping of int to str
        Line of the source of a program counter, as a trace's header has it.
    """

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, locations: Mapping[int, str]
    ) -> None:
        self._params, self._region, self._locations = params, region, locations
        self._count = 0
        self._grid_blocks: dict[tuple[int, int], int] = {}
        # By metadata entry: number, event and grid block of the access that owns it.  A launch
        # leaves them: the first access after it owns its entry whatever was there.
        self._owners: dict[int, tuple[int, Event, int]] = {}

    def take(self, number: int, event: Event, steps: Iterable[Step]) -> Iterator[Finding]:
        """Races in event ``number`` of the trace, from all its steps."""
        if event.kind == EventKind.BLOCK_PLACED:
            self._grid_blocks[event.sm, event.slot] = event.grid_block
        if event.kind > EventKind.ATOMIC:
            return
        current = (number, event, self._grid_blocks[event.sm, event.slot])
        for step in steps:
            if step.row == TableRow.UNMONITORED:
                continue
            word = step.packet.word
            entry, _ = self._region.locate(self._params, word << 2)
            if step.race:
                bank = bank_of(self._params, word)
                report = RaceReport.from_step(self._params, step, bank, self._count)
                accesses = self._access(*current), self._access(*self._owners[entry])
                self._count += 1
                yield ScordFinding(report, *accesses)
            if step.race or step.row not in ROWS_KEEPING_OWNER:
                self._owners[entry] = current

    def _access(self, number: int, event: Event, grid_block: int) -> Access:
        return Access.from_event(number, event, grid_block, self._locations.get(event.pc))


def find_races(
    trace: Trace,
    params: ScordParams,
    region: MonitoredRegion,
    events: Iterable[Event] | None = None,
) -> tuple[Scord, Iterator[Finding]]:
    """Run the golden model over a trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    params : ScordParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    events : iterable of Event, optional
        Events of the trace, if a caller watches them pass.

    Returns
    -------
    Scord, iterator of Finding
        The model, and every race with both accesses as it is found: the run goes on with the
        iteration, and its memory does not grow with the number of races.

    Raises
    ------
    ValueError
        If the trace or the region does not fit the configuration; in the iteration, if an event
        does not, which it names.
    """
    check_geometry(trace.header.geometry, params)
    scord = Scord(params, region, keep_races=False)
    finder = RaceFinder(params, region, trace.header.locations)

    def found() -> Iterator[Finding]:
        for number, event in enumerate(trace if events is None else events):
            try:
                yield from finder.take(number, event, scord.run(event))
            except ValueError as error:
                raise ValueError(f"Event {number}: {error}") from error

    return scord, found()


def reports_of(trace: Trace, params: ScordParams) -> Reports:
    """Different races that the golden model reports."""
    reports: defaultdict[UniqueRace, set[int]] = defaultdict(set)
    _, findings = find_races(trace, params, region_of(trace))
    for finding in findings:
        reports[finding.report.key].add(finding.earlier.pc)
    return reports


def steps_of_event(
    event: Event, params: ScordParams, banks: Sequence[Iterator[Step]]
) -> list[Step]:
    """Next steps of an event, taken from those of each bank in the trace's order."""
    steps: list[Step] = []
    # In the trace's order the buffer is never full.
    for transaction in filter(AccessBuffer(params).step, coalesce(event, params)):
        if transaction.kind == TransactionKind.FENCE:
            steps += map(next, banks)
        steps += [next(banks[bank_of(params, word)]) for word in _words(transaction, params)]
    return steps


def _words(transaction: Transaction, params: ScordParams) -> Iterator[int]:
    """Words of which a transaction makes a packet each, in their order."""
    if transaction.kind > TransactionKind.ATOMIC:
        return
    is_atomic = transaction.kind == TransactionKind.ATOMIC
    mask = transaction.mask if is_atomic else granule_mask(transaction.mask, params.granularity)
    first = transaction.line * WORDS_PER_LINE
    yield from (first + offset for offset in range(WORDS_PER_LINE) if mask >> offset & 1)
