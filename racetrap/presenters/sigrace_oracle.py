"""The races between threads that are really there beside those of SigRace, printed and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from rich.console import Console

from racetrap.golden_model.happens_before.happens_before import (
    HappensBefore,
    HappensBeforeResult,
)
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.missed import RaceOutcome, race_outcomes
from racetrap.golden_model.sigrace.result import SigraceResult
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.presenters.output import print_table
from racetrap.presenters.sigrace_races import by_static_race, party_text, thread_race_to_dict

__all__ = ["ThreadTruth", "print_thread_truth", "thread_truth", "thread_truth_to_dict"]


class ThreadTruth(NamedTuple):
    """Races that are there, and what became of them.

    Parameters
    ----------
    exact : HappensBeforeResult
        Races of the exact detector.
    outcomes : dict of ThreadRace to RaceOutcome
        What SigRace made of each.
    ideal : SigraceResult
        Races of Ideal SigRace with the same checkpoints.
    unconfirmed : list of ThreadRace
        Races of SigRace that are not there.
    """

    exact: HappensBeforeResult
    outcomes: dict[ThreadRace, RaceOutcome]
    ideal: SigraceResult
    unconfirmed: list[ThreadRace]


def thread_truth(trace: ThreadTrace, sigrace: Sigrace, found: SigraceResult) -> ThreadTruth:
    """Ask the exact detector and Ideal SigRace about a trace that ``sigrace`` has run over."""
    exact = HappensBefore().run(trace)
    ideal = Sigrace(
        sigrace.params, sigrace.environment, sigrace.checkpoint_interval, unbounded=True
    ).run(trace)
    there = set(exact.races)
    # Beyond the limit of the list nothing can be said of a single race.
    unconfirmed = [race for race in found.races if exact.is_complete and race not in there]
    return ThreadTruth(exact, race_outcomes(exact, found, ideal), ideal, unconfirmed)


def print_thread_truth(console: Console, truth: ThreadTruth, locations: Mapping[int, str]) -> None:
    """Print each missed static race, then every report without a race, then how many are which."""
    exact = truth.exact
    rows = []
    for outcome in RaceOutcome:
        groups = by_static_race(race for race, what in truth.outcomes.items() if what == outcome)
        for group in groups.values():
            if outcome != RaceOutcome.REPORTED:
                _print_missed(console, outcome, group, locations)
        if groups:
            rows.append((outcome.value, len(groups), sum(map(len, groups.values()))))
    for race in truth.unconfirmed:
        console.print(
            f"Not confirmed: address {race.address:#x}, {party_text(race.first, locations)} and "
            f"{party_text(race.second, locations)} are ordered in this run.\n",
            markup=False,
        )
    if rows:
        print_table(console, "Races that are there", ("outcome", "static", "dynamic"), rows)
    listed = "" if exact.is_complete else f", of which {len(exact.races)} were looked at"
    console.print(
        f"Oracle: {exact.dynamic} races in this run ({len(exact.static)} static){listed}; "
        f"{len(truth.ideal.races)} found by Ideal SigRace; {len(exact.false_sharing)} are of "
        f"different bytes of a word; {len(truth.unconfirmed)} reports not confirmed."
    )


def _print_missed(
    console: Console, outcome: RaceOutcome, group: list[ThreadRace], locations: Mapping[int, str]
) -> None:
    """Print the first of some races between two instructions that had the same fate."""
    race = group[0]
    instances = "1 instance" if len(group) == 1 else f"{len(group)} instances, the first"
    console.print(
        f"Oracle: {instances} at address {race.address:#x}, {outcome}\n"
        f"  one:   {party_text(race.first, locations)}\n"
        f"  other: {party_text(race.second, locations)}\n",
        markup=False,
    )


def thread_truth_to_dict(truth: ThreadTruth, locations: Mapping[int, str]) -> dict[str, Any]:
    """The same as plain data for JSON."""
    exact = truth.exact
    return {
        "dynamic": exact.dynamic,
        "static": len(exact.static),
        "outcomes": dict(Counter(outcome.name.lower() for outcome in truth.outcomes.values())),
        "ideal": len(truth.ideal.races),
        "races": [
            thread_race_to_dict(race, locations)
            | {
                "outcome": outcome.value,
                "missed": outcome != RaceOutcome.REPORTED,
                "false_sharing": race in exact.false_sharing,
            }
            for race, outcome in truth.outcomes.items()
        ],
        "unconfirmed": [thread_race_to_dict(race, locations) for race in truth.unconfirmed],
    }
