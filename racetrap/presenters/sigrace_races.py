"""Races between threads: text and JSON.

A static race is a pair of instructions; its dynamic instances differ in address, threads or
epochs.  People read each static race once, with its first instance and the number of its
addresses.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any, Literal

from rich.console import Console

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.result import SigraceResult, SigraceStatistics
from racetrap.golden_model.trace import ThreadTrace
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.presenters.locations import pc_text
from racetrap.presenters.race_choice import RaceChoice, RaceList
from racetrap.presenters.tables import print_table
from racetrap.schemas.thread_races import ThreadParty, ThreadRaceDocument
from racetrap.schemas.values import document
from racetrap.verdict.threads.line_races import address_text, by_static_race


def _kind(party: RaceParty) -> Literal["load", "store"]:
    return "store" if party.is_write else "load"


def race_count(races: Collection[ThreadRace]) -> str:
    """How many races there are, in words: pairs of instructions, and their addresses."""
    pairs, addresses = {race.static_key for race in races}, {race.address for race in races}
    if not pairs:
        return "none"
    return (
        f"{len(pairs)} pair{'s' * (len(pairs) > 1)} of instructions at "
        f"{len(addresses)} address{'es' * (len(addresses) > 1)}"
    )


def summary_sentence(races: Collection[ThreadRace], overhead: float, trace: ThreadTrace) -> str:
    """Races of a check, and what finding them has cost."""
    return (
        f"Races: {race_count(races)} in {len(trace)} events of {trace.header.threads} "
        f"threads; overhead of Re-execution and Analysis {overhead:.1%} of the "
        "committed instructions."
    )


def party_text(party: RaceParty, header: ThreadTraceHeader) -> str:
    """One access: what, where in the program, thread and epoch."""
    where = pc_text(party.pc, header.locations)
    return f"{_kind(party)} at {where} by thread {party.thread}, epoch {party.epoch}"


def _sentence(race: ThreadRace, header: ThreadTraceHeader) -> str:
    """The race in one sentence."""

    def name(party: RaceParty) -> str:
        place = header.locations.get(party.pc, f"pc {party.pc:#x}")
        return f"{_kind(party)} of thread {party.thread} at {place}"

    return (
        f"The {name(race.first)} races with the {name(race.second)}: "
        "no synchronisation orders them."
    )


def print_race(
    console: Console, heading: str, race: ThreadRace, addresses: int,
    header: ThreadTraceHeader, remark: str = "",
) -> None:  # fmt: skip
    """Print at how many addresses a static race is, and its first instance."""
    place = "address" if addresses == 1 else f"{addresses} addresses, the first"
    console.print(
        f"{heading} at {place} {address_text(race.address, header)}{remark}\n"
        f"  one:   {party_text(race.first, header)}\n"
        f"  other: {party_text(race.second, header)}\n"
        f"  {_sentence(race, header)}\n",
        markup=False,
    )


def _print_numbered(
    console: Console, number: int, race: ThreadRace, addresses: int, header: ThreadTraceHeader
) -> None:
    low, high = (pc_text(pc, header.locations) for pc in race.static_key)
    print_race(console, f"Race {number}: {low} and {high},", race, addresses, header)


def race_list(
    console: Console, choice: RaceChoice, header: ThreadTraceHeader
) -> RaceList[ThreadRace]:
    """Races to be printed with both accesses, grouped by their two instructions."""
    return RaceList(
        console, choice, lambda race: race.static_key,
        lambda number, race, count: _print_numbered(console, number, race, count, header),
        lambda race: thread_race_to_dict(race, header), lambda race: race.address,
    )  # fmt: skip


def print_result(
    console: Console, races: RaceList[ThreadRace], result: SigraceResult,
    header: ThreadTraceHeader,
) -> None:  # fmt: skip
    """Print the races, what Analysis has cleared, and what the run has cost."""
    races.take_all(result.races)
    races.finish()
    for (low, high), group in by_static_race(result.false_sharing).items():
        console.print(
            f"No race: {pc_text(low, header.locations)} and {pc_text(high, header.locations)} use "
            f"different bytes of one word, at {address_text(group[0].address, header)}.\n",
            markup=False,
        )
    _print_statistics(console, result)


def _print_statistics(console: Console, result: SigraceResult) -> None:
    counts = result.statistics
    rows: list[tuple[str, int | float]] = [
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
        *_ring_rows(counts),
        ("false positives", result.false_positives),
        ("checkpoints", counts.checkpoints),
        ("rollbacks", sum(counts.rollbacks.values())),
        ("instructions in Re-execution", counts.reexecuted),
        ("instructions in Analysis", counts.analysed),
    ]  # fmt: skip
    print_table(console, "SigRace", ("what", "count"), rows)


def _ring_rows(counts: SigraceStatistics) -> list[tuple[str, int | float]]:
    """What address rings have done, if there were any."""
    if not counts.ring_writes:
        return []
    return [
        ("conflicts without a common address", counts.conflicts_dismissed),
        ("conflicts whose blocks had left a ring", counts.conflicts_unheld),
        ("ring entries written", counts.ring_writes),
        ("ring entries read", counts.ring_reads),
    ]


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 1) if whole else 0.0


def result_to_dict(result: SigraceResult) -> dict[str, Any]:
    """What a run has found and cost, without the races, as plain data."""
    return {
        "conflicts": result.conflicts,
        "false_positives": result.false_positives,
        "static": len(by_static_race(result.races)),
        "dynamic": len(result.races),
        "false_sharing": len(result.false_sharing),
        "statistics": _statistics_to_dict(result.statistics),
    }


def thread_race_to_dict(race: ThreadRace, header: ThreadTraceHeader) -> ThreadRaceDocument:
    """A race as plain data."""

    def party(one: RaceParty) -> ThreadParty:
        location = header.locations.get(one.pc)
        return document(ThreadParty, one, kind=_kind(one), location=location)

    return {
        "address": race.address,
        "variables": [
            {"address": address, "size": variable.size, "name": variable.name}
            for address, variable in header.variables_at(race.address).items()
        ],
        "first": party(race.first),
        "second": party(race.second),
        "sentence": _sentence(race, header),
    }


def _statistics_to_dict(statistics: SigraceStatistics) -> dict[str, Any]:
    first = statistics.first_race
    return asdict(statistics) | {
        "lost": [
            {"thread": thread, "other": other, "windows": windows}
            for (thread, other), windows in sorted(statistics.lost.items())
        ],
        "overhead": statistics.overhead,
        "first_race": first and asdict(first) | {"overhead": first.overhead},
    }
