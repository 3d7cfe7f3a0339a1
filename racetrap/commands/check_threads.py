"""`racetrap check` of a trace of a program with threads, with SigRace."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.presenters.output import fail, report_console
from racetrap.presenters.sigrace_oracle import (
    print_thread_truth,
    thread_truth,
    thread_truth_to_dict,
)
from racetrap.presenters.sigrace_races import (
    by_static_race,
    print_statistics,
    print_thread_races,
    statistics_to_dict,
    thread_race_to_dict,
)

__all__ = ["check_thread_trace"]


def check_thread_trace(
    path: str, trace: ThreadTrace, sigrace: Sigrace, oracle: bool, json_file: str | None
) -> dict[str, Any]:
    """Run SigRace's golden model over a trace and print the races.

    Parameters
    ----------
    path : str
        File, for error messages.
    trace : ThreadTrace
        The trace.
    sigrace : Sigrace
        Configuration, environment and checkpoints.
    oracle : bool
        Look for the races that are really there, too.
    json_file : str or None
        Where JSON goes; nothing is written to it here.

    Returns
    -------
    dict
        What JSON says of the run.
    """
    try:
        found = sigrace.run(trace)
    except ValueError as error:
        fail(f"{path}: {error}")
    console, locations = report_console(json_file), trace.header.locations
    statics = len(by_static_race(found.races))
    print_thread_races(console, found.races, locations)
    print_statistics(console, found)
    console.print(
        f"Races: {statics} static, {len(found.races)} dynamic in {len(trace)} events of "
        f"{trace.header.threads} threads; overhead of Re-execution and Analysis "
        f"{found.statistics.overhead:.1%} of the committed instructions."
    )
    result: dict[str, Any] = {
        "parameters": asdict(sigrace.params),
        "environment": asdict(sigrace.environment),
        "checkpoint_interval": sigrace.checkpoint_interval,
        "unbounded": sigrace.unbounded,
        "events": len(trace),
        "static": statics,
        "conflicts": found.conflicts,
        "false_positives": found.false_positives,
        "statistics": statistics_to_dict(found.statistics),
        "races": [thread_race_to_dict(race, locations) for race in found.races],
    }
    if oracle:
        truth = thread_truth(trace, sigrace, found)
        print_thread_truth(console, truth, locations)
        result["oracle"] = thread_truth_to_dict(truth, locations)
    return result
