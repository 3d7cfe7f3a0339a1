"""Races of the oracle beside SigRace's reports: text and JSON."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from racetrap.golden_model.sigrace.missed import RaceOutcome
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.presenters.sigrace_races import (
    party_text,
    print_race,
    race_count,
    thread_race_to_dict,
)
from racetrap.presenters.tables import print_table
from racetrap.schemas.thread_races import ThreadOracle
from racetrap.verdict.threads.line_races import by_static_race
from racetrap.verdict.threads.oracle import OracleComparison


def print_oracle(console: Console, found: OracleComparison, header: ThreadTraceHeader) -> None:
    """Print each missed static race, then every report without a race, then their numbers."""
    exact = found.exact
    rows = []
    for outcome in RaceOutcome:
        groups = by_static_race(race for race, what in found.outcomes.items() if what == outcome)
        for group in groups.values():
            addresses = len({race.address for race in group})
            if outcome != RaceOutcome.REPORTED:
                print_race(console, "Oracle:", group[0], addresses, header, f", {outcome}")
        if groups:
            places = {race.address for group in groups.values() for race in group}
            rows.append((outcome.value, len(groups), len(places)))
    for race in found.unconfirmed:
        console.print(
            f"Not confirmed: address {race.address:#x}, {party_text(race.first, header)} and "
            f"{party_text(race.second, header)} are ordered in this run.\n",
            markup=False,
        )
    if rows:
        heading = ("outcome", "pairs of instructions", "addresses")
        print_table(console, "Races of the oracle", heading, rows)
    listed = "" if exact.is_complete else f" in the first {len(exact.races)} of {exact.dynamic}"
    console.print(
        f"Oracle: {race_count(exact.races)}{listed}; Ideal SigRace: "
        f"{race_count(found.ideal.races)}; {len(found.unconfirmed)} reports not confirmed."
    )


def oracle_to_dict(found: OracleComparison, header: ThreadTraceHeader) -> ThreadOracle:
    """The same as plain data."""
    exact = found.exact
    return {
        "dynamic": exact.dynamic,
        "static": len(exact.static),
        "outcomes": dict(Counter(outcome.name.lower() for outcome in found.outcomes.values())),
        "ideal": len(found.ideal.races),
        "false_sharing": len(exact.false_sharing),
        "races": [
            {
                **thread_race_to_dict(race, header),
                "outcome": outcome.value,
                "missed": outcome != RaceOutcome.REPORTED,
            }
            for race, outcome in found.outcomes.items()
        ],
        "unconfirmed": [thread_race_to_dict(race, header) for race in found.unconfirmed],
    }
