"""Races of the oracle beside SigRace's reports: text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from racetrap.evaluation.sigrace.oracle import OracleComparison
from racetrap.golden_model.sigrace.missed import RaceOutcome
from racetrap.presenters.sigrace_races import (
    by_static_race,
    party_text,
    print_group,
    thread_race_to_dict,
)
from racetrap.presenters.tables import print_table

__all__ = ["oracle_to_dict", "print_oracle"]


def print_oracle(console: Console, found: OracleComparison, locations: Mapping[int, str]) -> None:
    """Print each missed static race, then every report without a race, then their numbers."""
    exact = found.exact
    rows = []
    for outcome in RaceOutcome:
        groups = by_static_race(race for race, what in found.outcomes.items() if what == outcome)
        for group in groups.values():
            if outcome != RaceOutcome.REPORTED:
                print_group(console, "Oracle:", group[0], len(group), locations, f", {outcome}")
        if groups:
            rows.append((outcome.value, len(groups), sum(map(len, groups.values()))))
    for race in found.unconfirmed:
        console.print(
            f"Not confirmed: address {race.address:#x}, {party_text(race.first, locations)} and "
            f"{party_text(race.second, locations)} are ordered in this run.\n",
            markup=False,
        )
    if rows:
        print_table(console, "Races of the oracle", ("outcome", "static", "dynamic"), rows)
    listed = "" if exact.is_complete else f", of which {len(exact.races)} were looked at"
    console.print(
        f"Oracle: {exact.dynamic} races in this run ({len(exact.static)} static){listed}; "
        f"{len(found.ideal.races)} found by Ideal SigRace; {len(exact.false_sharing)} are of "
        f"different bytes of a word; {len(found.unconfirmed)} reports not confirmed."
    )


def oracle_to_dict(found: OracleComparison, locations: Mapping[int, str]) -> dict[str, Any]:
    """The same as plain data."""
    exact = found.exact
    return {
        "dynamic": exact.dynamic,
        "static": len(exact.static),
        "outcomes": dict(Counter(outcome.name.lower() for outcome in found.outcomes.values())),
        "ideal": len(found.ideal.races),
        "races": [
            thread_race_to_dict(race, locations)
            | {
                "outcome": outcome.value,
                "missed": outcome != RaceOutcome.REPORTED,
                "false_sharing": race in exact.false_sharing,
            }
            for race, outcome in found.outcomes.items()
        ],
        "unconfirmed": [thread_race_to_dict(race, locations) for race in found.unconfirmed],
    }
