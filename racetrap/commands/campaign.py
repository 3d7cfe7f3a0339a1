"""`racetrap campaign`: volume through hardware and golden model, every step compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from racetrap.commands.stimulus_options import check_options
from racetrap.commands.worker_pool import worker_pool
from racetrap.generators.presets import Preset, find_preset
from racetrap.generators.system import Params
from racetrap.golden_model.scord.params import ScordParams
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    progress,
    report_console,
    write_json,
)
from racetrap.presenters.random_campaign import (
    SYSTEMS,
    choose_presets,
    compare_volume,
    report_volume,
    run_one,
)
from racetrap.presenters.suite_campaign import report_suite, run_suite
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.tools import missing_tools
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

__all__ = ["command"]

_SUITES = ("scor-micro",)
_SUITE_PRESET = "scord"
_VOLUME = "random volume"
#: Options that are not for every stimulus.
_STIMULI = {"volume": [_VOLUME], "schedules": ["--suite"], "workers": [_VOLUME, "--suite"]}
#: The tables are not squeezed into a narrow terminal or log.
_TABLE_WIDTH = 150


def _suite_preset(
    name: str | None, system: str | None, configurations: int | None
) -> Preset[ScordParams]:
    """The preset that runs a suite."""
    if configurations is not None or system is not None:
        raise ValueError("Option --suite must come without --configurations and --system")
    preset = find_preset(_SUITE_PRESET if name is None else name)
    if not isinstance(preset.params, ScordParams):
        raise ValueError(f"Preset must be one of scord for {_SUITES[0]}, not {preset.name}")
    return Preset(preset.name, preset.summary, preset.params)


def _build(presets: Sequence[Preset[Params]]) -> list[FastModel[Any]]:
    return [
        build_fast(preset.name, preset.params)
        for preset in progress(presets, "Building", len(presets))
    ]


def _run_volume(
    console: Console, models: Sequence[FastModel[Any]], volume: int, seed: int, workers: int
) -> tuple[dict[str, Any], bool]:
    """Compare so much on each; what to write as JSON, and whether anything differs."""
    everything = []
    with worker_pool(workers, "Comparing", volume * len(models)) as (pool, done):
        for model in models:
            results = []
            for result in compare_volume(model, volume, seed, pool, workers):
                results.append(result)
                done(result.volume)
            everything.append(results)
    return report_volume(console, everything, workers)


def _run_suite(
    console: Console, model: FastModel[ScordParams], schedules: int, seed: int, workers: int
) -> tuple[dict[str, Any], bool]:
    """As ``_run_volume``."""
    with worker_pool(workers, "Simulating", len(MICRO_BENCHMARKS)) as (pool, done):
        results = run_suite(model, schedules, seed, pool, done)
    return report_suite(console, model.preset, results)


@click.command("campaign")
@click.option("--preset", "name", help="Preset; all without it (a suite: the paper's).")
@click.option(
    "--system", type=click.Choice(list(SYSTEMS)), help="Only presets of this system, not of all."
)
@click.option(
    "--configurations", type=click.IntRange(1),
    help="Run this many random configurations of each system instead of the presets.",
)  # fmt: skip
@click.option(
    "--volume", default=1_000_000, show_default=True, type=click.IntRange(1),
    help="Accesses (scord) or core events (sigrace) to compare for each preset.",
)  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of everything random.")
@click.option("--case", "number", type=click.IntRange(0), help="Run only this case of a preset.")
@click.option("--suite", type=click.Choice(_SUITES), help="Run a suite instead of random volume.")
@click.option(
    "--schedules", default=200, show_default=True, type=click.IntRange(0),
    help="Random schedules of each program of a suite, for each placement of its blocks.",
)  # fmt: skip
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes."
)
@json_option
def command(
    name: str | None, system: str | None, configurations: int | None, volume: int, seed: int,
    number: int | None, suite: str | None, schedules: int, workers: int, json_file: str | None,
) -> None:  # fmt: skip
    """Compare hardware and golden model on random volume, or on a suite.

    Exit status 0 if they agree everywhere (races or not), 3 if they differ or a tool fails; each
    difference is printed with the line that reruns its case alone.
    """
    with input_errors():
        if number is not None and (name is None or suite):
            raise ValueError("Option --case must come with --preset, and without --suite")
        single = _VOLUME if number is None else "--case"
        check_options(_STIMULI, "--suite" if suite else single)
        presets: Sequence[Preset[Params]]
        if suite:
            presets = [_suite_preset(name, system, configurations)]
        else:
            presets = choose_presets(name, system, configurations)
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    console = report_console(json_file)
    console.width = max(console.width, _TABLE_WIDTH)
    try:
        models = _build(presets)
        if suite:
            summary, differs = _run_suite(console, models[0], schedules, seed, workers)
        elif number is not None:
            summary, differs = report_volume(console, [[run_one(models[0], seed, number)]], 1)
        else:
            summary, differs = _run_volume(console, models, volume, seed, workers)
    except (BuildError, SimulationError) as error:
        fail(error, ExitStatus.FAILED)
    write_json(json_file, summary)
    raise SystemExit(ExitStatus.FAILED if differs else ExitStatus.NO_RACE)
