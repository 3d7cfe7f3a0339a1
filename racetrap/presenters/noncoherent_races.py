"""Races with accelerators: text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from racetrap.golden_model.noncoherent.oracle import RacyBytes
from racetrap.golden_model.noncoherent.races import MonitorRace, Origin, Race
from racetrap.golden_model.noncoherent.rules import Overlap, cure, kind_name, sentence
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import ENGINE_KINDS
from racetrap.presenters.line_pairs import times_text
from racetrap.presenters.locations import pc_text
from racetrap.presenters.race_choice import RaceChoice, RaceList, instances_text
from racetrap.presenters.tables import print_table
from racetrap.schemas.accelerator_races import (
    AcceleratorRace,
    MonitorRaceDocument,
    OperationParty,
)

_LAYOUT_REMARKS = {
    "host": "Addresses are those of the host: on the target other objects may share a line.",
    "mixed": "Some addresses are those of the host: on the target other objects may share a line.",
}


def _class_of(race: Race) -> str:
    """What tells a race from others to whoever decides what to do about it."""
    if race.is_overwritten:
        return "lost data that is overwritten before it is read"
    if race.is_false_sharing:
        return f"false sharing of a {race.overlap.value}, harmless on its own"
    if race.overlap is not Overlap.BYTES:
        return f"different bytes of a {race.overlap.value}"
    return "the same bytes"


def _place(origin: Origin, locations: Mapping[int, str]) -> str:
    by = f" of engine {origin.engine}" if origin.kind in ENGINE_KINDS else ""
    at = f" at {pc_text(origin.pc, locations)}" if origin.pc else ""
    return f"{kind_name(origin.kind)}{by}{at}, operation {origin.number}"


def print_races(console: Console, races: Sequence[Race], trace: NoncoherentTrace) -> None:
    """Print each race with both operations and its cure, then how many there are of each class."""
    locations = trace.header.locations
    for number, race in enumerate(races):
        console.print(
            f"Race {number}: rule {race.rule.value}, {_class_of(race)}, "
            f"seen {times_text(race.instances)}, bytes {race.first:#x} to {race.last:#x}\n"
            f"  earlier: {_place(race.earlier, locations)}\n"
            f"  later:   {_place(race.later, locations)}\n"
            f"  {sentence(race.rule)}\n"
            f"  Cure: {cure(race.rule, race.later.kind, race.overlap)}\n",
            markup=False,
        )
    classes = Counter((race.rule.value, _class_of(race)) for race in races)
    if classes:
        rows = [(*names, count) for names, count in sorted(classes.items())]
        print_table(console, "Races by rule", ["rule", "class", "races"], rows)
    remark = _LAYOUT_REMARKS.get(trace.header.layout)
    if remark:
        console.print(remark)


def race_to_dict(race: Race, locations: Mapping[int, str]) -> AcceleratorRace:
    """A race as plain data."""

    return {
        "rule": race.rule.value,
        "instances": race.instances,
        "first": race.first,
        "last": race.last,
        "overlap": race.overlap.value,
        "false_sharing": race.is_false_sharing,
        "overwritten": race.is_overwritten,
        "earlier": _party_to_dict(race.earlier, locations),
        "later": _party_to_dict(race.later, locations),
        "sentence": sentence(race.rule),
        "cure": cure(race.rule, race.later.kind, race.overlap),
    }


def _party_to_dict(origin: Origin, locations: Mapping[int, str]) -> OperationParty:
    return {
        "operation": origin.number,
        "kind": kind_name(origin.kind),
        "engine": origin.engine if origin.kind in ENGINE_KINDS else None,
        "pc": origin.pc or None,
        "location": locations.get(origin.pc),
    }


def monitor_race_list(
    console: Console, choice: RaceChoice, trace: NoncoherentTrace
) -> RaceList[MonitorRace]:
    """Races of the bus monitor to be printed with both operations, grouped by rule and places."""
    locations = trace.header.locations

    def origin(number: int) -> Origin:
        fields = (int(trace.events[number][name]) for name in ("kind", "engine", "pc"))
        return Origin(number, *fields)

    def key(race: MonitorRace) -> object:
        places = origin(race.later).place, origin(race.earlier).place
        return race.rule, race.is_definite, *places

    def show(number: int, race: MonitorRace, count: int) -> None:
        certainty = "definite" if race.is_definite else "possible"
        others = " and others" if race.has_others else ""
        console.print(
            f"Race {number}: rule {race.rule.value}, {certainty}, bytes {race.first:#x} to "
            f"{race.last:#x}{instances_text(count)}\n"
            f"  earlier: {_place(origin(race.earlier), locations)}{others}\n"
            f"  later:   {_place(origin(race.later), locations)}\n"
            f"  {sentence(race.rule)}\n",
            markup=False,
        )

    def to_dict(race: MonitorRace) -> MonitorRaceDocument:
        return {
            "rule": race.rule.value,
            "definite": race.is_definite,
            "first": race.first,
            "last": race.last,
            "earlier": _party_to_dict(origin(race.earlier), locations),
            "other_earlier": race.has_others,
            "later": _party_to_dict(origin(race.later), locations),
            "sentence": sentence(race.rule),
        }

    return RaceList(console, choice, key, show, to_dict)


def print_oracle(
    console: Console, racy: Sequence[RacyBytes], first_reported: int | None, mode: str
) -> None:
    """Print the bytes that race on the exhaustive machine, and whether the mode begins alike.

    Parameters
    ----------
    console : Console
        Where to.
    racy : sequence of RacyBytes
        What the machine has found.
    first_reported : int or None
        First operation at which the mode reports a race.
    mode : str
        Its name.
    """
    if racy:
        rows = [(f"{one.first:#x}", f"{one.last:#x}", one.operation) for one in racy]
        print_table(console, "Bytes that race", ["first", "last", "operation"], rows)
    count = sum(one.last - one.first + 1 for one in racy)
    at = f", the first at operation {racy[0].operation}" if racy else ""
    own = "none" if first_reported is None else f"operation {first_reported}"
    console.print(f"Oracle: {count} bytes race{at}; first race of mode {mode}: {own}.")


def oracle_to_dict(racy: Sequence[RacyBytes], first_reported: int | None) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "first_operation": racy[0].operation if racy else None,
        "first_reported": first_reported,
        "bytes": [one._asdict() for one in racy],
    }
