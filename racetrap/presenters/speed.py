"""Speed of simulation of one detector: golden model, hardware, both, and the cocotb bench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

from rich.console import Console

from racetrap.evaluation.throughput.rates import Cocotb, Rates
from racetrap.presenters.output import print_table

__all__ = ["print_speed", "speed_figures"]


class _Speed(Protocol):
    """A module that measures a detector."""

    def rates_in_child(self, compiled: bool) -> Rates:
        """Rates in a process of its own."""

    def cocotb(self, tests: str) -> Cocotb:
        """Rates of the cocotb bench and of the fast co-simulation."""


def speed_figures(
    speed: _Speed, tests: str, measured: Callable[[Any], Any], compiled: bool
) -> dict[str, Any]:
    """Rates with the plain golden model, the compiled one if asked for, and cocotb's.

    Parameters
    ----------
    speed : module
        What measures.
    tests : str
        Module with the cocotb test.
    measured : callable
        Gives what it is given, for the progress bar.
    compiled : bool
        Whether to measure the compiled golden model, too.
    """
    plain = measured(speed.rates_in_child(compiled=False))
    fast = measured(speed.rates_in_child(compiled=True)) if compiled else None
    return {
        "plain": asdict(plain),
        "compiled": asdict(fast) if fast and fast.compiled else None,
        "same_trace": asdict(measured(speed.cocotb(tests))),
    }


def _rows(figures: dict[str, Any]) -> list[list[str | int | float]]:
    """Rows of the table: what, accesses or events a second, slowest and fastest run."""
    plain, compiled = figures["plain"], figures["compiled"]
    rates = {"hardware": plain["hardware"], "golden, plain Python": plain["golden"]}
    if compiled:
        rates["golden, compiled"] = compiled["golden"]
    rates["together, plain Python"] = plain["together"]
    if compiled:
        rates["together, compiled"] = compiled["together"]
    return [[name, *map(round, rate.values())] for name, rate in rates.items()]


def print_speed(console: Console, system: str, unit: str, figures: dict[str, Any]) -> None:
    """Print what ``speed_figures`` gave, in ``unit`` a second."""
    columns = ["what", f"{unit}/s", "slowest run", "fastest run"]
    print_table(console, f"Speed of simulation, {system}", columns, _rows(figures))
    same = figures["same_trace"]
    rows = [["cocotb", same["cocotb"]], ["fast co-simulation", same["fast"]]]
    print_table(
        console,
        f"One trace, everything compared, plain Python, {system}",
        ["what", f"{unit}/s", "against cocotb"],
        [[name, round(rate), round(rate / same["cocotb"], 1)] for name, rate in rows],
    )
