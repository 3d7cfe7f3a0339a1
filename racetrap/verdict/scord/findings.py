"""Races of a trace with both accesses, from the steps of golden model or hardware.

A report of the hardware has only the warp of the earlier access.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from racetrap.golden_model.events import Event
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
from racetrap.verdict.gpu.findings import Access, Finding, RaceFinder
from racetrap.verdict.gpu.fit import check_geometry


class ScordFinding(Finding):
    """A race that ScoRD reports."""

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        # Of several warps that loaded, the metadata names the first, possibly the one that stores.
        access, earlier = self.access, self.earlier
        same = (access.grid_block, access.warp) == (earlier.grid_block, earlier.warp)
        if not same:
            return super().sentence()
        other = "a load of another warp since its own"
        return f"The {access.party()} races with {other}: {self.report.reason}."


class ScordFinder(RaceFinder):
    """Joins ScoRD's steps with their events."""

    def entry_of(self, step: Step) -> int | None:
        """Metadata entry of the word of a step."""
        if step.row == TableRow.UNMONITORED:
            return None
        entry, _ = self.region.locate(self.params, step.packet.word << 2)
        return int(entry)

    def owns_entry(self, step: Step) -> bool:
        """Whether the row of the decision table in a step replaces the owner."""
        return step.row not in ROWS_KEEPING_OWNER

    def finding(self, step: Step, sequence: int, access: Access, earlier: Access) -> ScordFinding:
        """The race of a step."""
        bank = bank_of(self.params, step.packet.word)
        report = RaceReport.from_step(self.params, step, bank, sequence)
        return ScordFinding(report, access, earlier)


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
        Events of the trace, if wrapped by the caller.

    Returns
    -------
    Scord, iterator of Finding
        The model, and every race with both accesses as it is found: iterating advances the run, and
        memory is independent of the number of races.

    Raises
    ------
    ValueError
        If the trace or the region does not fit the configuration; in the iteration, if an event
        does not, which it names.
    """
    check_geometry(trace.header.geometry, params)
    finder = ScordFinder(params, region, trace)
    scord = Scord(params, region, keep_races=False)
    return scord, finder.take_all(trace if events is None else events, scord.run)


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
    """Words of a transaction that become packets, in order."""
    if transaction.kind > TransactionKind.ATOMIC:
        return
    is_atomic = transaction.kind == TransactionKind.ATOMIC
    mask = transaction.mask if is_atomic else granule_mask(transaction.mask, params.granularity)
    first = transaction.line * WORDS_PER_LINE
    yield from (first + offset for offset in range(WORDS_PER_LINE) if mask >> offset & 1)
