"""`racetrap cost`: hardware cost of presets beside the papers' figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import command_line, input_errors
from racetrap.fpga.cost.measure import (
    SYSTEM,
    BlockMeasurement,
    make_table,
    measure,
    measurement_key,
    select_blocks,
    targets,
)
from racetrap.fpga.cost.table import Cost
from racetrap.fpga.flow.families import FAMILIES
from racetrap.generators.presets import Preset, find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.presenters.cost import cost_words, page_of, print_cost, to_json


@click.command("cost")
@click.argument("presets", nargs=-1, required=True, shell_complete=options.complete_preset)
@options.setting
@click.option(
    "--family", "families", metavar="FAMILY[:DEVICE]", multiple=True,
    default=("ecp5", "asic"), show_default=True,
    help=f"Target: {', '.join(FAMILIES)}, or one device of a family instead of its default; may be "
    "repeated.",
)  # fmt: skip
@click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(0, 100),
    help="Place and route with seeds 1 to N; 0: only synthesise.  Publish figures over 8 seeds.",
)  # fmt: skip
@click.option(
    "--block", "names", metavar="NAME", multiple=True,
    help="Only this block; may be repeated.  The whole system is placed only if named.",
)  # fmt: skip
@click.option(
    "--constraint", "constraint_mhz", metavar="MHZ", default=100.0, show_default=True,
    type=click.FloatRange(1, 1000), help="Target clock of place and route.",
)  # fmt: skip
@options.jobs
@form_files(PAGE)
@options.result
def command(
    presets: tuple[str, ...], settings: tuple[str, ...], families: tuple[str, ...],
    seeds: int, names: tuple[str, ...], constraint_mhz: float, jobs: int, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Measure the hardware of PRESETS: state bits, LUT, FF, RAM, Fmax, area.

    Prints a table for each preset, with a row for each block and the paper's figures beside it.
    Results are cached: nothing is measured twice.

    Exit status 0 if everything was measured, else 3; what was measured is printed.
    """
    with input_errors():
        chosen = [_changed(name, settings) for name in dict.fromkeys(presets)]
        blocks = {preset.name: select_blocks(preset.params, names) for preset in chosen}
        found = targets(families)
    rows = {
        f"{preset.name}, {block.name}": [
            BlockMeasurement(preset.name, preset.params, block.name, target,
                             _seeds(block.name, names, seeds), constraint_mhz)
            for target in found
        ]
        for preset in chosen
        for block in blocks[preset.name]
    }  # fmt: skip
    work = LongWork(jobs)
    target_names = [target.name for target in found]
    costs: dict[str, dict[str, Mapping[str, Cost]]] = {preset.name: {} for preset in chosen}
    for row, measured in work.rows("Measuring", _MEASURE, rows).items():
        name, block = row.split(", ")
        costs[name][block] = dict(zip(target_names, measured, strict=True))
    tables = [
        make_table(preset.name, settings, preset.params, blocks[preset.name], costs[preset.name])
        for preset in chosen
        if costs[preset.name]
    ]
    work.finish(
        lambda console: print_cost(console, tables), to_json(tables, command_line()), json_file,
        page_file=output.get(PAGE.end), page=lambda: page_of(tables, command_line(), work.remark),
        problems=[problem for table in tables for problem in table.problems],
    )  # fmt: skip


def _words(*costs: Cost) -> str:
    return "; ".join(cost.problem or cost_words(cost) for cost in costs)


_MEASURE = Measure(
    measure, _words, measurement_key, keeps=lambda cost: not cost.problem, folder="cost"
)


def _changed(name: str, settings: Sequence[str]) -> Preset[Params]:
    preset = find_preset(name)
    return Preset(preset.name, preset.summary, with_settings(preset.params, settings))


def _seeds(block: str, names: Sequence[str], seeds: int) -> tuple[int, ...]:
    """Seeds of a block: placing a whole system takes long, so only on request."""
    return () if block == SYSTEM and SYSTEM not in names else tuple(range(1, seeds + 1))
