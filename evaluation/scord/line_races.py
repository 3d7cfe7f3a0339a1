"""Races of a GPU's trace between lines of its sources: those of the oracle, and ScoRD's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from racetrap.evaluation.line_pairs import LineRace, Side, place_of
from racetrap.evaluation.scord.findings import Access, Finding
from racetrap.golden_model.barracuda import Party, Race
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.scord.report import race_words

__all__ = ["finding_race", "oracle_races_by_line"]


def oracle_races_by_line(
    races: Iterable[Race],
    locations: Mapping[int, str],
    outcomes: Sequence[str] = (),
    columns: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[LineRace]:
    """Races of the oracle.

    Parameters
    ----------
    races : iterable of Race
        Races of one run.
    locations : mapping of int to str
        Source places of its program counters.
    outcomes : sequence of str
        What a detector made of each; none without a detector.
    columns : mapping of int to int
        Columns of program counters, where they are known.
    """

    def side(party: Party) -> Side:
        has_thread = party.access <= EventKind.ATOMIC
        return Side(
            place_of(party.pc, locations), party.access.name.lower().replace("_", " "),
            f"thread {party.thread} of block {party.grid_block}" * has_thread,
            columns.get(party.pc, 0),
            {
                "kind": party.access.name.lower(), "pc": party.pc, "event": party.event,
                "grid_block": party.grid_block, "thread": party.thread,
            },
        )  # fmt: skip

    for number, race in enumerate(races):
        outcome = outcomes[number] if outcomes else ""
        space = race.space.name.lower()
        yield LineRace(
            side(race.first), side(race.second), race.kind.value, race.reason,
            race.race_class.value, f"{space} address {race.address:#x}, launch {race.kernel}",
            race.instances, race.block_pairs, outcome=outcome,
            details={"space": space, "address": race.address, "launch": race.kernel},
        )  # fmt: skip


def finding_race(
    finding: Finding, locations: Mapping[int, str],
    columns: Mapping[int, int] = MappingProxyType({}),
) -> LineRace:  # fmt: skip
    """A race that ScoRD reports, with source places and columns of program counters."""

    def side(access: Access) -> Side:
        return Side(
            place_of(access.pc, locations),
            access.kind,
            f"warp {access.warp} of block {access.grid_block}",
            columns.get(access.pc, 0),
        )

    report = finding.report
    return LineRace(
        side(finding.earlier), side(finding.access), race_words(report.race), report.reason,
        f"{report.race_scope.name.lower()} scope", f"global address {report.address:#x}",
    )  # fmt: skip
