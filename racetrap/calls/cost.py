"""Hardware cost of presets beside the papers' figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from racetrap.calls.results import CostResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import input_errors, kept_console
from racetrap.generators.presets import Preset, find_preset, with_settings
from racetrap.generators.system import Params

if TYPE_CHECKING:
    from racetrap.fpga.cost.table import Cost


def cost(
    *presets: str, settings: Sequence[str] = (),
    families: Sequence[str] = ("ecp5", "asic"), seeds: int = 1, blocks: Sequence[str] = (),
    constraint_mhz: float = 100.0, jobs: int = 2, work: LongWork | None = None,
) -> CostResult:  # fmt: skip
    """Measure the hardware of presets: state bits, LUT, FF, RAM, Fmax, area.

    Results are cached: nothing is measured twice.

    Parameters
    ----------
    presets : str
        The presets.
    settings : sequence of str
        Changed parameters, as ``name=value``.
    families : sequence of str
        Targets, each as ``FAMILY`` or ``FAMILY:DEVICE``.
    seeds : int
        Number of seeds for place and route; 0: only synthesise.
    blocks : sequence of str
        Blocks to measure; the whole system is placed only if named.
    constraint_mhz : float
        Target clock of place and route.
    jobs : int
        Worker processes.
    work : LongWork, optional
        The rows of a command.

    Raises
    ------
    ValueError
        If an argument is wrong.
    Failure
        If a worker dies.
    """
    from racetrap.fpga.cost import measure as measuring  # needs the extra `hardware`
    from racetrap.presenters.cost import page_of, to_json

    with input_errors():
        chosen = [_changed(name, settings) for name in dict.fromkeys(presets)]
        selected = {
            preset.name: measuring.select_blocks(preset.params, blocks) for preset in chosen
        }
        found = measuring.targets(families)
    rows = {
        f"{preset.name}, {block.name}": [
            measuring.BlockMeasurement(
                preset.name, preset.params, block.name, target,
                () if block.is_large and block.name not in blocks else tuple(range(1, seeds + 1)),
                constraint_mhz,
            )
            for target in found
        ]
        for preset in chosen
        for block in selected[preset.name]
    }  # fmt: skip
    measure = Measure(
        measuring.measure, _words, measuring.measurement_key,
        keeps=lambda cost: not cost.problem, folder="cost",
    )  # fmt: skip
    work = work or LongWork(jobs, console=kept_console())
    target_names = [target.name for target in found]
    costs: dict[str, dict[str, Mapping[str, Cost]]] = {preset.name: {} for preset in chosen}
    for row, measured in work.rows("Measuring", measure, rows).items():
        name, block = row.split(", ")
        costs[name][block] = dict(zip(target_names, measured, strict=True))
    tables = [
        measuring.make_table(
            preset.name, settings, preset.params, selected[preset.name], costs[preset.name]
        )
        for preset in chosen
        if costs[preset.name]
    ]
    line = ["racetrap", "cost", *presets]
    for option, values in {
        "--set": settings, "--family": families, "--block": blocks, "--seeds": [seeds],
        "--constraint": [constraint_mhz],
    }.items():  # fmt: skip
        line += [word for value in values for word in (option, str(value))]
    return CostResult(
        document={**work.progress, **to_json(tables, shlex.join(line))}, tables=tables,
        problems=[problem for table in tables for problem in table.problems],
        make_page=lambda command: page_of(tables, command, work.remark),
    )  # fmt: skip


def _words(*costs: Cost) -> str:
    from racetrap.presenters.cost import cost_words

    return "; ".join(cost.problem or cost_words(cost) for cost in costs)


def _changed(name: str, settings: Sequence[str]) -> Preset[Params]:
    preset = find_preset(name)
    return Preset(preset.name, preset.summary, with_settings(preset.params, settings))
