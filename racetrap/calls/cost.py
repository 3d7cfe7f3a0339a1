"""Hardware cost of presets beside the papers' figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from racetrap.calls.results import CostResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import input_errors, kept_console
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
from racetrap.generators.presets import Preset, find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.presenters.cost import cost_words, page_of, to_json


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
        Place and route with so many seeds; 0: only synthesise.
    blocks : sequence of str
        Only these blocks; the whole system is placed only if named.
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
    with input_errors():
        chosen = [_changed(name, settings) for name in dict.fromkeys(presets)]
        selected = {preset.name: select_blocks(preset.params, blocks) for preset in chosen}
        found = targets(families)
    rows = {
        f"{preset.name}, {block.name}": [
            BlockMeasurement(preset.name, preset.params, block.name, target,
                             _seeds(block.name, blocks, seeds), constraint_mhz)
            for target in found
        ]
        for preset in chosen
        for block in selected[preset.name]
    }  # fmt: skip
    work = work or LongWork(jobs, console=kept_console())
    target_names = [target.name for target in found]
    costs: dict[str, dict[str, Mapping[str, Cost]]] = {preset.name: {} for preset in chosen}
    for row, measured in work.rows("Measuring", _MEASURE, rows).items():
        name, block = row.split(", ")
        costs[name][block] = dict(zip(target_names, measured, strict=True))
    tables = [
        make_table(preset.name, settings, preset.params, selected[preset.name], costs[preset.name])
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
