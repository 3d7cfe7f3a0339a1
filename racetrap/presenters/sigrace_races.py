"""Races between threads: printing them, writing them.

A static race is a pair of instructions; its dynamic instances differ in address, threads or
epochs.  People read each static race once, with its first instance; JSON has all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.result import SigraceResult, SigraceStatistics
from racetrap.presenters.output import print_table

__all__ = [
    "by_static_race",
    "party_text",
    "print_statistics",
    "print_thread_races",
    "statistics_to_dict",
    "thread_race_to_dict",
]


def by_static_race(races: Iterable[ThreadRace]) -> dict[tuple[int, int], list[ThreadRace]]:
    """Dynamic races by the two instructions, in the order of their first instances."""
    groups: dict[tuple[int, int], list[ThreadRace]] = {}
    for race in races:
        groups.setdefault(race.static_key, []).append(race)
    return groups


def _kind(party: RaceParty) -> str:
    return "store" if party.is_write else "load"


def _where(pc: int, locations: Mapping[int, str]) -> str:
    return f"pc {pc:#x} ({locations[pc]})" if pc in locations else f"pc {pc:#x}"


def party_text(party: RaceParty, locations: Mapping[int, str]) -> str:
    """One access: what, where in the program, thread and epoch."""
    where = _where(party.pc, locations)
    return f"{_kind(party)} at {where} by thread {party.thread}, epoch {party.epoch}"


def _sentence(race: ThreadRace, locations: Mapping[int, str]) -> str:
    """The race in one sentence."""

    def name(party: RaceParty) -> str:
        place = locations.get(party.pc, f"pc {party.pc:#x}")
        return f"{_kind(party)} of thread {party.thread} at {place}"

    return (
        f"The {name(race.first)} races with the {name(race.second)}: "
        "no synchronisation orders them."
    )


def print_thread_races(
    console: Console, races: Sequence[ThreadRace], locations: Mapping[int, str]
) -> None:
    """Print each static race with the number of its instances and the first of them.

    Parameters
    ----------
    console : Console
        Where to print.
    races : sequence of ThreadRace
        Dynamic races.
    locations : mapping of int to str
        Source places of program counters.
    """
    for number, group in enumerate(by_static_race(races).values()):
        race = group[0]
        instances = "1 instance" if len(group) == 1 else f"{len(group)} instances, the first"
        low, high = race.static_key
        console.print(
            f"Race {number}: {_where(low, locations)} and {_where(high, locations)}, "
            f"{instances} at address {race.address:#x}\n"
            f"  one:   {party_text(race.first, locations)}\n"
            f"  other: {party_text(race.second, locations)}\n"
            f"  {_sentence(race, locations)}\n",
            markup=False,
        )


def print_statistics(console: Console, result: SigraceResult) -> None:
    """Print what the run has cost, as a table."""
    counts = result.statistics
    rows: list[tuple[str, object]] = [
        ("instructions committed", counts.instructions),
        ("blocks", counts.blocks),
        ("bytes of a message, mean", _ratio(counts.message_bytes, counts.blocks)),
        ("message bytes a 1,000 instructions",
         _ratio(1000 * counts.message_bytes, counts.instructions)),
        ("timestamps compared", counts.comparisons),
        ("queues searched down to a predecessor", counts.hits),
        ("full queues searched without one", sum(counts.lost.values())),
        ("conflicts", result.conflicts),
        ("conflicts lost, log full", counts.conflicts_dropped),
        ("conflicts analysed before", counts.conflicts_ignored),
        ("false positives", result.false_positives),
        ("checkpoints", counts.checkpoints),
        ("rollbacks", sum(counts.rollbacks.values())),
        ("instructions in Re-execution", counts.reexecuted),
        ("instructions in Analysis", counts.analysed),
    ]  # fmt: skip
    print_table(console, "SigRace", ("what", "count"), rows)


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 1) if whole else 0.0


def thread_race_to_dict(race: ThreadRace, locations: Mapping[int, str]) -> dict[str, Any]:
    """A race as plain data for JSON."""

    def party(one: RaceParty) -> dict[str, Any]:
        return {
            "thread": one.thread,
            "epoch": one.epoch,
            "kind": _kind(one),
            "pc": one.pc,
            "location": locations.get(one.pc),
        }

    return {
        "address": race.address,
        "first": party(race.first),
        "second": party(race.second),
        "sentence": _sentence(race, locations),
    }


def statistics_to_dict(statistics: SigraceStatistics) -> dict[str, Any]:
    """Counts of a run as plain data for JSON."""
    first = statistics.first_race
    return asdict(statistics) | {
        "lost": [
            {"thread": thread, "other": other, "windows": windows}
            for (thread, other), windows in sorted(statistics.lost.items())
        ],
        "overhead": statistics.overhead,
        "first_race": first and asdict(first) | {"overhead": first.overhead},
    }
