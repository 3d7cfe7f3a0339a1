"""Races with accelerators, between lines of the driver's sources."""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.golden_model.noncoherent.races import Origin, Race
from racetrap.golden_model.noncoherent.rules import cure, kind_name, sentence
from racetrap.golden_model.trace.noncoherent.operations import ENGINE_KINDS
from racetrap.verdict.line_pairs import LineRace, Side, place_of


def operation_race(race: Race, locations: Mapping[int, str]) -> LineRace:
    """A race of two operations.

    Parameters
    ----------
    race : Race
        The race.
    locations : mapping of int to str
        Source places of program counters.
    """

    def side(origin: Origin) -> Side:
        by = f"engine {origin.engine}, " if origin.kind in ENGINE_KINDS else ""
        place = place_of(origin.pc, locations) if origin.pc else f"operation {origin.number}"
        details = {"operation": origin.number, "pc": origin.pc or None}
        return Side(
            place, kind_name(origin.kind), f"{by}operation {origin.number}", details=details
        )

    return LineRace(
        side(race.earlier), side(race.later),
        "false-sharing" if race.is_false_sharing else "race",
        f"{sentence(race.rule)} Cure: {cure(race.rule, race.later.kind, race.overlap)}",
        f"rule {race.rule.value}", f"bytes {race.first:#x} to {race.last:#x}", race.instances,
    )  # fmt: skip
