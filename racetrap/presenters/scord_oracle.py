"""Races of the oracle beside ScoRD's reports: text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console

from racetrap.evaluation.scord.detect import UniqueRace
from racetrap.evaluation.scord.oracle import OracleRace, is_missed
from racetrap.golden_model.barracuda import Party, Race, RaceKind
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.scord.report import race_words
from racetrap.presenters.locations import pc_text

__all__ = ["Strays", "oracle_to_dict", "print_oracle"]


class Strays(NamedTuple):
    """Reports of a detector for whose instruction the oracle has no race.

    Parameters
    ----------
    decreed : sequence of UniqueRace
        Those that the paper's rule confirms.
    unconfirmed : sequence of UniqueRace
        The others.
    """

    decreed: Sequence[UniqueRace]
    unconfirmed: Sequence[UniqueRace]


def _party(party: Party, locations: Mapping[int, str]) -> str:
    what = f"{party.access.name.lower().replace('_', ' ')} at {pc_text(party.pc, locations)}"
    if party.access <= EventKind.ATOMIC:
        what += f" by thread {party.thread} of grid block {party.grid_block}"
    return f"{what}, event {party.event}"


def _print_pairs(
    console: Console, what: str, pairs: Sequence[Race], locations: Mapping[int, str]
) -> None:
    for pair in pairs:
        reason = f"  {pair.reason}.\n" if pair.kind is RaceKind.UNORDERED_STRONG else ""
        console.print(
            f"{what}: {pair.space.name.lower()} address {pair.address:#x}\n"
            f"  earlier: {_party(pair.first, locations)}\n"
            f"  later:   {_party(pair.second, locations)}\n{reason}",
            markup=False,
        )


def print_oracle(
    console: Console,
    found: Sequence[OracleRace],
    strong: Sequence[Race],
    lockstep: Sequence[Race],
    strays: Strays,
    locations: Mapping[int, str],
) -> None:
    """Print every race of the oracle with its outcome, then pairs that need no order or have only
    that of lockstep, then every report without a race.

    Parameters
    ----------
    console : Console
        Where to print.
    found : sequence of OracleRace
        Races of the oracle.
    strong : sequence of Race
        Unordered pairs of strong accesses, which are no races.
    lockstep : sequence of Race
        Pairs that only the lockstep of a warp's lanes orders.
    strays : Strays
        Reports of the detector without a race of the oracle.
    locations : mapping of int to str
        Source places of program counters.
    """
    for each in found:
        race = each.race
        console.print(
            f"Oracle: {race.kind.value}, {race.race_class.value}, {race.space.name.lower()} "
            f"address {race.address:#x}: {each.outcome}\n"
            f"  earlier: {_party(race.first, locations)}\n"
            f"  later:   {_party(race.second, locations)}\n"
            f"  {race.reason}.\n",
            markup=False,
        )
    _print_pairs(console, "Unordered, but no race", strong, locations)
    _print_pairs(console, "Only lockstep orders these", lockstep, locations)
    for pc, kind in strays.decreed:
        console.print(
            f"By decree: {race_words(kind)} at {pc_text(pc, locations)}: the oracle calls the "
            "accesses ordered or free to conflict, but the method asks for strong ones.\n",
            markup=False,
        )
    for pc, kind in strays.unconfirmed:
        console.print(
            f"Not confirmed: {race_words(kind)} at {pc_text(pc, locations)}: "
            "the oracle has no race of this instruction in this run.\n",
            markup=False,
        )
    missed = sum(map(is_missed, found))
    console.print(
        f"Oracle: {len(found)} different races in this run; {missed} of them missed, "
        f"{len(strays.unconfirmed)} reports not confirmed{_decree_text(len(strays.decreed))}"
        f"{_lockstep_text(len(lockstep))}."
    )


def _decree_text(count: int) -> str:
    return f", {count} by decree of the method" if count else ""


def _lockstep_text(count: int) -> str:
    return f"; {count} pair{'s' * (count != 1)} that only lockstep orders" if count else ""


def oracle_to_dict(
    found: Sequence[OracleRace],
    strong: Sequence[Race],
    lockstep: Sequence[Race],
    strays: Strays,
    locations: Mapping[int, str],
) -> dict[str, Any]:
    """The same as plain data."""

    def party(one: Party) -> dict[str, Any]:
        return {
            "event": one.event,
            "kind": one.access.name.lower(),
            "pc": one.pc,
            "location": locations.get(one.pc),
            "grid_block": one.grid_block,
            "thread": one.thread,
        }

    def pair(race: Race) -> dict[str, Any]:
        return {
            "kind": race.kind.value,
            "class": race.race_class.value,
            "space": race.space.name.lower(),
            "address": race.address,
            "earlier": party(race.first),
            "later": party(race.second),
            "reason": race.reason,
        }

    return {
        "races": [
            {**pair(each.race), "outcome": each.outcome, "missed": is_missed(each)}
            for each in found
        ],
        "unordered_strong": list(map(pair, strong)),
        "ordered_by_lockstep": list(map(pair, lockstep)),
        "unconfirmed": [{"pc": pc, "kind": race_words(kind)} for pc, kind in strays.unconfirmed],
        "by_decree": [{"pc": pc, "kind": race_words(kind)} for pc, kind in strays.decreed],
    }
