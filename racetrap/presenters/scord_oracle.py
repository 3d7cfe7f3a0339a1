"""The races that are really there beside those that were reported, printed and as plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.scord.detect import UniqueRace
from racetrap.evaluation.scord.truth import Truth, is_missed, unconfirmed
from racetrap.golden_model.barracuda import Party
from racetrap.golden_model.scord.report import race_words

__all__ = ["print_truths", "truths_to_dict"]


def _where(pc: int, locations: Mapping[int, str]) -> str:
    return f"pc {pc:#x} ({locations[pc]})" if pc in locations else f"pc {pc:#x}"


def _party(party: Party, locations: Mapping[int, str]) -> str:
    return (
        f"{party.access.name.lower()} at {_where(party.pc, locations)} by thread {party.thread} "
        f"of grid block {party.grid_block}, event {party.event}"
    )


def print_truths(
    console: Console,
    truths: Sequence[Truth],
    reports: Collection[UniqueRace],
    locations: Mapping[int, str],
) -> None:
    """Print every race that is there with its outcome, then every report without one.

    Parameters
    ----------
    console : Console
        Where to print.
    truths : sequence of Truth
        Races of the oracle.
    reports : collection of UniqueRace
        Unique races that the detector reported.
    locations : mapping of int to str
        Source places of program counters.
    """
    for truth in truths:
        race = truth.race
        console.print(
            f"Oracle: {race.kind.value}, {race.race_class.value}, {race.space.name.lower()} "
            f"address {race.address:#x}: {truth.outcome}\n"
            f"  earlier: {_party(race.first, locations)}\n"
            f"  later:   {_party(race.second, locations)}\n"
            f"  {race.reason}.\n",
            markup=False,
        )
    strays = unconfirmed(reports, truths)
    for pc, kind in strays:
        console.print(
            f"Not confirmed: {race_words(kind)} at {_where(pc, locations)}: "
            "the oracle has no race of this instruction in this run.\n",
            markup=False,
        )
    missed = sum(map(is_missed, truths))
    console.print(
        f"Oracle: {len(truths)} different races in this run; {missed} of them missed, "
        f"{len(strays)} reports not confirmed."
    )


def truths_to_dict(
    truths: Sequence[Truth], reports: Collection[UniqueRace], locations: Mapping[int, str]
) -> dict[str, Any]:
    """The same as plain data for JSON."""

    def party(one: Party) -> dict[str, Any]:
        return {
            "event": one.event,
            "kind": one.access.name.lower(),
            "pc": one.pc,
            "location": locations.get(one.pc),
            "grid_block": one.grid_block,
            "thread": one.thread,
        }

    return {
        "races": [
            {
                "kind": truth.race.kind.value,
                "class": truth.race.race_class.value,
                "space": truth.race.space.name.lower(),
                "address": truth.race.address,
                "outcome": truth.outcome,
                "missed": is_missed(truth),
                "earlier": party(truth.race.first),
                "later": party(truth.race.second),
                "reason": truth.race.reason,
            }
            for truth in truths
        ],
        "unconfirmed": [
            {"pc": pc, "kind": race_words(kind)} for pc, kind in unconfirmed(reports, truths)
        ],
    }
