"""Figures of `racetrap bench` for ScoRD."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.evaluation.throughput import kernel_rates
from racetrap.evaluation.throughput import scord_cycles as bench
from racetrap.evaluation.throughput import scord_speed as speed
from racetrap.presenters.output import print_table
from racetrap.presenters.speed import print_speed, speed_figures

__all__ = ["STEPS", "measure", "show"]

#: Module of the cocotb bench whose test plays random traffic.
_TESTS = "racetrap.tb.scord.random_tests"
_PAIRS = [(slots, latency) for slots in bench.OUTSTANDING for latency in bench.LATENCIES]
#: Times that ``measured`` is called, without the compiled golden model.
STEPS = len(_PAIRS) + 8


def measure(measured: Callable[[Any], Any], compiled: bool) -> dict[str, Any]:
    """All figures, as they go to JSON.

    Parameters
    ----------
    measured : callable
        Gives what it is given, for the progress bar.
    compiled : bool
        Whether to measure the compiled golden model, too.
    """
    one, four = measured(bench.banks("scord")), measured(bench.banks("scord-banks4"))
    return {
        "accesses_per_cycle": {
            "streaming": measured(bench.streaming()),
            "back_to_back": measured(bench.back_to_back()),
        },
        "bandwidth": [asdict(measured(bench.bandwidth(*pair))) for pair in _PAIRS],
        "banks": {"one": one, "four": four, "ratio": four / one},
        "speed": speed_figures(speed, _TESTS, measured, compiled),
        "executor": measured(kernel_rates.executor_rates()),
        "applications": measured([asdict(rate) for rate in kernel_rates.application_rates()]),
    }


def show(console: Console, figures: dict[str, Any]) -> None:
    """Print the tables."""
    _show_cycles(console, figures)
    print_speed(console, "scord", "accesses", figures["speed"])
    _show_kernels(console, figures)


def _show_cycles(console: Console, figures: dict[str, Any]) -> None:
    cycle, banks = figures["accesses_per_cycle"], figures["banks"]
    rows = [
        ["one bank, whole lines", cycle["streaming"]],
        ["one bank, one entry only", cycle["back_to_back"]],
        ["one bank, all SMs", banks["one"]],
        ["four banks, all SMs", banks["four"]],
        ["four banks against one", banks["ratio"]],
    ]
    columns = ["metadata answers at once", "accesses a cycle"]
    rounded = [[name, round(rate, 4)] for name, rate in rows]
    print_table(console, "Throughput, scord", columns, rounded)
    busy = {(row["outstanding"], row["latency"]): row["busy"] for row in figures["bandwidth"]}
    print_table(
        console,
        "Cycles with metadata read data, in percent",
        ["in flight", *(f"latency {latency}" for latency in bench.LATENCIES)],
        [
            [slots, *(round(100 * busy[slots, latency], 1) for latency in bench.LATENCIES)]
            for slots in bench.OUTSTANDING
        ],
    )


def _show_kernels(console: Console, figures: dict[str, Any]) -> None:
    rows = [[threads, round(rate)] for threads, rate in figures["executor"].items()]
    columns = ["threads", "thread instructions/s"]
    print_table(console, "Executor, full warps, recording", columns, rows)
    print_table(
        console,
        "Applications, size small: trace events a second",
        ["application", "events", "thread operations", "executor", "Barracuda", "ScopedOracle"],
        [
            [row["name"], row["events"], row["operations"],
             *(round(row[name]) for name in ("executor", "barracuda", "scoped"))]
            for row in figures["applications"]
        ],
    )  # fmt: skip
