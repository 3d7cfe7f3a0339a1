"""Figures of `racetrap bench`: text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from racetrap.evaluation.throughput.figures import BenchTable
from racetrap.generators.system import System
from racetrap.presenters.tables import print_table


def print_figures(console: Console, system: System[Any], figures: Mapping[str, Any]) -> None:
    """Print the tables of a detector; ``figures`` as ``measurements`` gives them."""
    own = system.own("evaluation", "throughput")
    simulation = _speed(system.name, own.UNIT, figures["speed"]) if own.WORKLOAD else ()
    for title, columns, rows in (*own.tables(figures), *simulation):
        print_table(console, title, columns, rows)


def _speed(system: str, unit: str, figures: Mapping[str, Any]) -> Iterator[BenchTable]:
    rates = {
        "hardware": figures["hardware"],
        "golden, plain Python": figures["golden"],
        "together": figures["together"],
    }
    yield (
        f"Speed of simulation, {system}",
        ["what", f"{unit}/s", "slowest run", "fastest run"],
        [[name, *rate.values()] for name, rate in rates.items()],
    )
    same = figures["same_trace"]
    rows = {"cocotb": same["cocotb"], "fast co-simulation": same["fast"]}
    yield (
        f"One trace, everything compared, {system}",
        ["what", f"{unit}/s", "against cocotb"],
        [[name, rate, rate / same["cocotb"]] for name, rate in rows.items()],
    )
