"""Races found in a trace, with both accesses: finding them, printing them, writing them.

A report of the hardware names block slots and knows no more of the earlier access than its
warp.  The events of a trace tell the rest: grid blocks, and which access it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from rich.console import Console

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Geometry, Scope, TraceHeader
from racetrap.golden_model.scord.packets import ROWS_KEEPING_OWNER, TableRow
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.scord.report import RaceReport, race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.presenters.output import print_table

__all__ = [
    "Access",
    "Finding",
    "check_geometry",
    "find_races",
    "finding_to_dict",
    "print_findings",
    "region_of",
]


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
        Where it ran: SM, block slot and warp slot.
    location : str or None
        Line of the source, such as ``file.cu:12``, if the trace knows it.
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

    @classmethod
    def from_event(
        cls, number: int, event: Event, grid_block: int, location: str | None = None
    ) -> Access:
        """Access of event ``number``, made by block ``grid_block`` at ``location``."""
        atomic = event.kind == EventKind.ATOMIC
        return cls(
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
            location=location,
        )

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


@dataclass(frozen=True, slots=True)
class Finding:
    """A race: the report as the hardware gives it, and the two accesses."""

    report: RaceReport
    access: Access
    earlier: Access

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        # Of several warps that loaded, the metadata names the first: maybe the one that stores.
        access, earlier = self.access, self.earlier
        same = (access.grid_block, access.warp) == (earlier.grid_block, earlier.warp)
        other = "a load of another warp since its own" if same else f"the {earlier.party()}"
        return f"The {access.party()} races with {other}: {self.report.reason}."


def check_geometry(geometry: Geometry, params: ScordParams) -> None:
    """Raise ``ValueError`` if a trace was taken on a larger GPU than ``params`` describes."""
    for name, needed in asdict(geometry).items():
        if needed > getattr(params, name):
            raise ValueError(
                f"Parameter {name} must be at least the {needed} of the trace, "
                f"not {getattr(params, name)}"
            )


def region_of(header: TraceHeader, params: ScordParams, metadata_base: int = 0) -> Region:
    """Monitored region that a trace asks for; ``ValueError`` if ``params`` cannot have it."""
    region = Region(header.region.data_base, header.region.size_log2, metadata_base)
    region.check(params)
    return region


class _Finder:
    """Runs the golden model and remembers what its reports leave out."""

    def __init__(
        self, params: ScordParams, region: Region, scord: Scord, locations: Mapping[int, str]
    ):
        self._params = params
        self._locations = locations
        self._region = region
        self._scord = scord
        self._grid_blocks: dict[tuple[int, int], int] = {}
        # By metadata entry: number, event and grid block of the access that owns it.  A launch
        # leaves them: the first access after it owns its entry whatever was there.
        self._owners: dict[int, tuple[int, Event, int]] = {}

    def run(self, number: int, event: Event) -> list[Finding]:
        """Races that one event makes."""
        if event.kind == EventKind.BLOCK_PLACED:
            self._grid_blocks[event.sm, event.slot] = event.grid_block
        first_race = len(self._scord.races)
        steps = self._scord.run(event)
        if event.kind > EventKind.ATOMIC:
            return []
        reports = iter(self._scord.races[first_race:])
        current = (number, event, self._grid_blocks[event.sm, event.slot])
        findings = []
        for step in steps:
            if step.row == TableRow.UNMONITORED:
                continue
            entry, _ = self._region.locate(self._params, step.packet.word << 2)
            if step.race:
                access, earlier = self._access(*current), self._access(*self._owners[entry])
                findings.append(Finding(next(reports), access, earlier))
            if step.race or step.row not in ROWS_KEEPING_OWNER:
                self._owners[entry] = current
        return findings

    def _access(self, number: int, event: Event, grid_block: int) -> Access:
        return Access.from_event(number, event, grid_block, self._locations.get(event.pc))


def find_races(
    events: Iterable[Event],
    params: ScordParams,
    region: Region,
    scord: Scord | None = None,
    locations: Mapping[int, str] = MappingProxyType({}),
) -> list[Finding]:
    """Run the golden model over a valid trace and give every race with both accesses.

    Parameters
    ----------
    events : iterable of Event
        Events of a whole trace, in order.
    params : ScordParams
        Configuration.
    region : Region
        Monitored region.
    scord : Scord, optional
        Model to use, for a caller that wants its counters; a new one if none is given.
    locations : mapping of int to str
        Line of the source of a PC, as the header of a trace has it.

    Raises
    ------
    ValueError
        If an event does not fit the configuration; names the event.
    """
    finder = _Finder(params, region, scord or Scord(params, region), locations)
    findings = []
    for number, event in enumerate(events):
        try:
            findings += finder.run(number, event)
        except ValueError as error:
            raise ValueError(f"Event {number}: {error}") from error
    return findings


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """A finding as plain data for JSON."""
    report = finding.report
    return {
        "sequence": report.sequence,
        "address": report.address,
        "pc": report.pc,
        "kind": race_words(report.race),
        "scope": report.race_scope.name.lower(),
        "table_iv": report.table_iv,
        "access": asdict(finding.access),
        "earlier": asdict(finding.earlier),
        "sentence": finding.sentence(),
    }


def print_findings(console: Console, findings: Iterable[Finding]) -> None:
    """Print each race with both accesses, then a table of how many there are of each kind."""
    kinds: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        report = finding.report
        kind, scope = race_words(report.race), report.race_scope.name.lower()
        kinds[kind, scope, report.table_iv] += 1
        console.print(
            f"Race {report.sequence}: {kind}, {scope} scope, Table IV ({report.table_iv}), "
            f"address {report.address:#x}, pc {report.pc:#x}\n"
            f"  access:  {finding.access}\n"
            f"  earlier: {finding.earlier}\n"
            f"  {finding.sentence()}\n",
            markup=False,
        )
    if kinds:
        rows = [[*kind, count] for kind, count in sorted(kinds.items())]
        print_table(console, "Races by kind", ["kind", "scope", "Table IV", "races"], rows)
