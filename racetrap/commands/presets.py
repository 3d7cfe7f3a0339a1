"""`racetrap presets`: configurations that can be generated."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.generators.description import describe_layouts
from racetrap.generators.presets import PRESETS, find_preset
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.presenters.tables import print_table
from racetrap.sim.tools import not_found

if TYPE_CHECKING:
    from racetrap.generators.state import StatePart


@click.command("presets")
@click.argument("name", required=False, shell_complete=options.complete_preset)
@options.result
def command(name: str | None, json_file: str | None) -> None:
    """List the presets, or show one: parameters, packed fields, state bits by kind."""
    console = report_console()
    if name is None:
        large = [preset for system in SYSTEMS for preset in system.large_presets.values()]
        presets = [*PRESETS.values(), *large]
        for preset in presets:
            console.print(f"{preset.name:15} {preset.summary}", markup=False)
        write_json(json_file, {preset.name: preset.summary for preset in presets})
        return
    with input_errors():
        preset = find_preset(name)
    shown: dict[str, Any] = {
        "preset": preset.name,
        "summary": preset.summary,
        "parameters": asdict(preset.params),
        "layouts": describe_layouts(preset.params),
    }
    _print(console, shown)
    try:
        # Imports Amaranth, which elaborates the hardware to count its state.
        from racetrap.sim.cosim.verilator.state_cache import kept_state_parts
    except ModuleNotFoundError as error:
        console.print("State bits are not shown: " + not_found(error.name or ""), markup=False)
    else:
        parts = kept_state_parts(preset.params)
        shown["state_bits"] = [asdict(part) for part in parts]
        _print_state(console, parts)
    system = system_of(preset.params)
    overheads = system.overheads(preset.params)
    shown["overheads"] = {each.name: each.value for each in overheads}
    for overhead in overheads:
        console.print(overhead.sentence)
    for line in (
        "Next:",
        f"  racetrap simulate {name} TRACE   runs it on {system.trace.kind}",
        f"  racetrap generate {name}         writes its Verilog, registers and headers",
        f"  racetrap cost {name}             measures its size and clock",
    ):
        console.print(line, markup=False)
    write_json(json_file, shown)


def _print(console: Console, shown: dict[str, Any]) -> None:
    title = f"{shown['preset']}: {shown['summary']}"
    print_table(console, title, ("parameter", "value"), shown["parameters"].items())
    rows = [
        (name, field, place["offset"], place["width"])
        for name, layout in shown["layouts"].items()
        for field, place in layout["fields"].items()
    ]
    print_table(console, "Packed words", ("word", "field", "offset", "width"), rows)


def _print_state(console: Console, parts: list[StatePart]) -> None:
    columns = ("kind", "bits of the method", "flip-flops", "memory bits")
    rows: list[tuple[Any, ...]] = [
        (part.kind, part.method, part.flip_flops, part.memory_bits) for part in parts
    ]  # fmt: skip
    sums = [sum(row[column] for row in rows) for column in (1, 2, 3)]
    print_table(console, "State", columns, [*rows, ("total", *sums)])
