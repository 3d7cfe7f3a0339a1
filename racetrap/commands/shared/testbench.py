"""Waves of a stimulus, played once more on the cocotb testbench."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared.terminal import progress_bar
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import run

__all__ = ["write_waves"]


def write_waves(
    console: Console, preset: str, params: Params, case: str, plan: dict[str, Any], seed: int
) -> None:
    """Play a stimulus on the testbench, with a progress bar on a terminal, and print where its
    waves are.

    Parameters
    ----------
    console : Console
        Where to print.
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    case : str
        Test of the detector's ``play_tests``.
    plan : dict
        What the test is told.
    seed : int
        Seed of everything random.

    Raises
    ------
    Mismatch
        If hardware and golden model differ; the log and the line that plays it again are printed.
    Failure
        If a tool is missing or fails.
    """
    module = f"racetrap.tb.{system_of(params).name}.play_tests"
    with progress_bar("Building") as update:

        def watch(note: dict[str, Any]) -> None:
            if "total" in note:
                update(description="Simulating", total=note["total"], completed=note["done"])

        model = build(preset, params, waves=True)
        folder = cache_folder() / "simulate" / f"{model.folder.name}-{case}"
        result = run(model, module, folder, plan, seed=seed, case=case, watch=watch)
    if result.failures:
        line = shlex.join(["racetrap", *sys.argv[1:]])
        if "--seed" not in sys.argv:
            line += f" --seed {seed}"
        click.echo(f"Log: {folder / 'simulation.log'}; run again: {line}", err=True)
        done = [note for note in result.notes if "run" in note]
        after = f"After {done[-1]['run']}, {done[-1]['schedule']}: " if done else ""
        raise Mismatch(f"{after}{result.failures[0].failure}")
    console.print(f"Waves: {result.folder / 'dump.vcd'}", markup=False)
