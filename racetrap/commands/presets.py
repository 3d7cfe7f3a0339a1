"""`racetrap presets`: configurations that can be generated."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from racetrap.commands.shared.options import complete_preset, result_options
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.generators.presets import GPU_PRESETS, PRESETS, find_preset
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import metadata_overhead
from racetrap.presenters.tables import print_table

if TYPE_CHECKING:
    from racetrap.generators.state import StatePart

__all__ = ["command"]


@click.command("presets")
@click.argument("name", required=False, shell_complete=complete_preset)
@result_options
def command(name: str | None, json_file: str | None) -> None:
    """List the presets, or show one: parameters, packed fields, state bits by kind."""
    console = report_console()
    if name is None:
        presets = [*PRESETS.values(), *GPU_PRESETS.values()]
        for preset in presets:
            console.print(f"{preset.name:15} {preset.summary}", markup=False)
        write_json(json_file, {preset.name: preset.summary for preset in presets})
        return
    with input_errors():
        preset = find_preset(name)
    # A list of the presets needs no Amaranth.
    from racetrap.generators.description import describe_layouts
    from racetrap.sim.cosim.verilator.state_cache import kept_state_parts

    parts = kept_state_parts(preset.params)
    shown: dict[str, Any] = {
        "preset": preset.name,
        "summary": preset.summary,
        "parameters": asdict(preset.params),
        "layouts": describe_layouts(preset.params),
        "state_bits": [asdict(part) for part in parts],
    }
    if isinstance(preset.params, ScordParams):
        shown["metadata_overhead"] = metadata_overhead(preset.params)
    _print(console, shown, parts)
    write_json(json_file, shown)


def _print(console: Console, shown: dict[str, Any], parts: list[StatePart]) -> None:
    title = f"{shown['preset']}: {shown['summary']}"
    print_table(console, title, ("parameter", "value"), shown["parameters"].items())
    rows = [
        (name, field, place["offset"], place["width"])
        for name, layout in shown["layouts"].items()
        for field, place in layout["fields"].items()
    ]
    print_table(console, "Packed words", ("word", "field", "offset", "width"), rows)
    columns = ("kind", "bits of the method", "flip-flops", "memory bits")
    rows = [(part.kind, part.method, part.flip_flops, part.memory_bits) for part in parts]
    sums = [sum(row[column] for row in rows) for column in (1, 2, 3)]
    print_table(console, "State", columns, [*rows, ("total", *sums)])
    if "metadata_overhead" in shown:
        console.print(f"Metadata is {shown['metadata_overhead']:.1%} of the monitored data.")
