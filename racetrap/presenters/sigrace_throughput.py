"""Figures of `racetrap bench` for SigRace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.evaluation.throughput import detector_rates, recorder_rates
from racetrap.evaluation.throughput import sigrace_cycles as bench
from racetrap.evaluation.throughput import sigrace_speed as speed
from racetrap.presenters.output import print_table
from racetrap.presenters.speed import print_speed, speed_figures

__all__ = ["STEPS", "measure", "show"]

#: Module of the cocotb bench whose test plays random events.
_TESTS = "racetrap.tb.sigrace.random_tests"
#: Instructions of a block, from the paper's to one that is too short.
_BLOCKS = (2000, 1500, 1000, 500)
_SIZE = "small"
#: Times that ``measured`` is called, without the compiled golden model.
STEPS = len(_BLOCKS) + 5


def measure(measured: Callable[[Any], Any], compiled: bool) -> dict[str, Any]:
    """All figures, as they go to JSON.

    Parameters
    ----------
    measured : callable
        Gives what it is given, for the progress bar.
    compiled : bool
        Whether to measure the compiled golden model, too.
    """
    return {
        "worst_scan": asdict(measured(bench.worst_scan())),
        "sustained": [asdict(measured(bench.sustained(block))) for block in _BLOCKS],
        "speed": speed_figures(speed, _TESTS, measured, compiled),
        "recorder": asdict(measured(recorder_rates.recorder_rates())),
        "programs": measured([asdict(rate) for rate in detector_rates.detector_rates(_SIZE)]),
    }


def show(console: Console, figures: dict[str, Any]) -> None:
    """Print the tables."""
    scan = figures["worst_scan"]
    columns = ["message", "comparisons", "cycles"]
    rows: list[list[Any]] = [["full queues, no predecessor", scan["comparisons"], scan["cycles"]]]
    print_table(console, "Longest scan of a message, sigrace", columns, rows)
    print_table(
        console,
        "All cores at an access a cycle, no block ordered with another, sigrace",
        ["instructions of a block", "messages", "comparisons a message", "cycles a message",
         "core stalls", "link stalls"],
        [
            [row["block_instructions"], row["messages"], round(row["comparisons"], 1),
             round(row["message_cycles"], 1), row["core_stalls"], row["link_stalls"]]
            for row in figures["sustained"]
        ],
    )  # fmt: skip
    print_speed(console, "sigrace", "events", figures["speed"])
    _show_programs(console, figures)


def _show_programs(console: Console, figures: dict[str, Any]) -> None:
    recorder = figures["recorder"]
    print_table(
        console,
        f"Recorder, one working thread, {recorder['events']} events",
        ["what", "events/s", "slowest run", "fastest run"],
        [[name, *map(round, recorder[name].values())] for name in ("recorded", "merged")],
    )
    print_table(
        console,
        f"Programs with threads, size {_SIZE}: trace events a second",
        ["program", "events", "exact detector", "SigRace, golden model"],
        [
            [row["name"], row["events"], round(row["exact"]), round(row["sigrace"])]
            for row in figures["programs"]
        ],
    )
