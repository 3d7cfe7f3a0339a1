"""A run of the testbench for a command: progress, failures, how to run again."""

from __future__ import annotations

import shlex
import sys
from typing import Any, NoReturn

import click
from rich.console import Console

from racetrap.generators.system import Params
from racetrap.presenters.output import ExitStatus, fail
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuildError, build
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, SimulationError, run
from racetrap.sim.cosim.verilator.tools import missing_tools

__all__ = ["bench_failure", "fail_with_rerun", "run_bench", "say_waves"]


def run_bench(
    preset: str, params: Params, module: str, case: str, plan: dict[str, Any], seed: int,
    waves: bool,
) -> RunResult:  # fmt: skip
    """Build and run, with a progress bar on a terminal; failures of tools end the command.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    module, case : str
        Module of the bench's tests, and the one to run.
    plan : dict
        What the test is told.
    seed : int
        Seed of everything random.
    waves : bool
        Write waves.
    """
    from rich.progress import Progress  # slow to import

    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Building", total=None)

        def watch(note: dict[str, Any]) -> None:
            if "total" in note:
                bar.update(
                    task, description="Simulating", total=note["total"], completed=note["done"]
                )

        try:
            model = build(preset, params, waves=waves)
            folder = cache_folder() / "simulate" / f"{model.folder.name}-{case}"
            return run(model, module, folder, plan, seed=seed, case=case, watch=watch)
        except (BuildError, SimulationError) as error:
            fail(error, ExitStatus.FAILED)


def bench_failure(result: RunResult) -> str | None:
    """What went wrong in the simulation, if something did."""
    if not result.failures:
        return None
    done = [note for note in result.notes if "run" in note]
    after = f" after {done[-1]['run']}, {done[-1]['schedule']}" if done else ""
    return f"Hardware and golden model disagree{after}: {result.failures[0].failure}"


def say_waves(console: Console, result: RunResult, waves: bool) -> None:
    """Say where the waves are, if there are any."""
    if waves:
        console.print(f"Waves: {result.folder / 'dump.vcd'}", markup=False)


def fail_with_rerun(message: str, result: RunResult, seed: int) -> NoReturn:
    """End the command with the log's place and the line that runs the case again."""
    line = shlex.join(["racetrap", *sys.argv[1:]])
    if "--seed" not in sys.argv:
        line += f" --seed {seed}"
    click.echo(f"Log: {result.folder / 'simulation.log'}; run again: {line}", err=True)
    fail(message, ExitStatus.FAILED)
