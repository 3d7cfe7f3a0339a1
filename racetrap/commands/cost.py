"""`racetrap cost`: what a preset's hardware costs, and what its paper says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from racetrap.commands.evaluation_options import check_writable, command_line, html_option
from racetrap.commands.worker_pool import worker_pool
from racetrap.fpga.cost.columns import Cell, cell_text, columns_of
from racetrap.fpga.cost.measure import (
    SYSTEM,
    Job,
    make_table,
    run_jobs,
    select_blocks,
    targets,
)
from racetrap.fpga.cost.report import to_json
from racetrap.fpga.cost.table import CostTable
from racetrap.fpga.flow.blocks import Block
from racetrap.fpga.flow.families import FAMILIES
from racetrap.generators.presets import Preset, find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    print_table,
    report_console,
    set_option,
    write_json,
)

__all__ = ["command"]

_TABLE_WIDTH = 190


@click.command("cost")
@click.argument("presets", nargs=-1, required=True)
@set_option
@click.option(
    "--family", "families", type=click.Choice(list(FAMILIES)), multiple=True,
    default=("ecp5", "asic"), show_default=True, help="Target; may be repeated.",
)  # fmt: skip
@click.option(
    "--device", "devices", metavar="NAME", multiple=True,
    help="Device of a family instead of its default; may be repeated.",
)  # fmt: skip
@click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(0, 100),
    help="Place and route with seeds 1 to N; 0 only synthesises. One seed says little: 8 do.",
)  # fmt: skip
@click.option(
    "--blocks", "names", metavar="NAME", multiple=True,
    help="Only this block; may be repeated.  Unless it is named, the whole system is not placed.",
)  # fmt: skip
@click.option(
    "--constraint", "constraint_mhz", metavar="MHZ", default=100.0, show_default=True,
    type=click.FloatRange(1, 1000), help="Clock that place and route aims at.",
)  # fmt: skip
@click.option(
    "--jobs", "workers", default=2, show_default=True, type=click.IntRange(1, 64),
    help="Processes.",
)  # fmt: skip
@html_option
@json_option
def command(
    presets: tuple[str, ...], settings: tuple[str, ...], families: tuple[str, ...],
    devices: tuple[str, ...], seeds: int, names: tuple[str, ...], constraint_mhz: float,
    workers: int, html_file: str | None, json_file: str | None,
) -> None:  # fmt: skip
    """Say what the hardware of PRESETS costs: state bits, LUT, FF, RAM, Fmax, area.

    One table a preset with a row a block, beside it the paper's own figures.  Results are kept:
    what was measured once is not measured again.

    Exit status 0 if everything was measured, else 3, with what was.
    """
    check_writable(html_file)
    with input_errors():
        chosen = [_changed(name, settings) for name in dict.fromkeys(presets)]
        blocks = {preset.name: select_blocks(preset.params, names) for preset in chosen}
        found = targets(families, devices)
    jobs = [
        Job(preset.name, preset.params, block.name, target, _seeds(block, names, seeds),
            constraint_mhz)
        for preset in chosen
        for block in blocks[preset.name]
        for target in found
    ]  # fmt: skip
    with worker_pool(workers, "Measuring", len(jobs)) as (pool, done):
        costs = run_jobs(jobs, pool, done)
    tables = [
        make_table(preset.name, settings, preset.params, blocks[preset.name], costs)
        for preset in chosen
    ]
    result = to_json(tables, command_line())
    _print(report_console(json_file), tables, result["provenance"], result["not_for"])
    write_json(json_file, result)
    if html_file is not None:
        from racetrap.presenters.cost_page import html_page  # brings in the templates: slow

        Path(html_file).write_text(html_page(tables, command_line()), encoding="utf-8")
    if problems := [problem for table in tables for problem in table.problems]:
        fail(problems[0], ExitStatus.FAILED)


def _changed(name: str, settings: Sequence[str]) -> Preset[Params]:
    preset = find_preset(name)
    return Preset(preset.name, preset.summary, with_settings(preset.params, settings))


def _seeds(block: Block, names: Sequence[str], seeds: int) -> tuple[int, ...]:
    """Seeds of a block: to place a whole system takes long, so it must be asked for."""
    return () if block.name == SYSTEM and SYSTEM not in names else tuple(range(1, seeds + 1))


def _cell(cell: Cell) -> object:
    """Numbers as they are, so that their column is aligned to the right."""
    return cell if isinstance(cell, int) else cell_text(cell)


def _print(
    console: Console, tables: Sequence[CostTable], made_by: dict[str, str], not_for: list[str]
) -> None:
    console.width = max(console.width, _TABLE_WIDTH)
    for table in tables:
        columns = columns_of(table)
        title = " ".join([table.preset, *table.settings])
        print_table(
            console, f"{title}: one instance of each block",
            [f"{column.family} {column.name}".strip() for column in columns],
            [[_cell(column.cell(row)) for column in columns] for row in table.rows],
        )  # fmt: skip
        for problem in table.problems:
            console.print(f"Not measured: {problem}", markup=False)
        print_table(
            console, f"{title}: state in bits",
            ["kind", "method, from parameters", "flip-flops elaborated", "memory bits elaborated"],
            [[part.kind, part.method, part.flip_flops, part.memory_bits] for part in table.state],
        )  # fmt: skip
        print_table(
            console, f"{title}: beside the paper",
            ["figure", "paper", "counted", "unit", "why", "Ref"],
            [[each.name, each.paper, round(each.counted, 3), each.unit, each.explanation,
              each.reference] for each in table.comparisons],
        )  # fmt: skip
        for sentence in table.explanation:
            console.print(sentence, markup=False)
    for family, facts in made_by.items():
        console.print(f"{family}: {facts}.", markup=False)
    console.print("These figures are not for everything:")
    for sentence in not_for:
        console.print(f"- {sentence}", markup=False)
