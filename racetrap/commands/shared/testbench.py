"""Waves of a stimulus, from a second run on the cocotb testbench."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared.terminal import progress_bar
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.atomic_write import atomic_write_text
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.cocotb_build import Waves, build
from racetrap.sim.cosim.verilator.cocotb_run import WAVES, run
from racetrap.sim.cosim.verilator.wave_layouts import wave_layouts


def write_waves(
    console: Console, preset: str, params: Params, case: str, plan: dict[str, Any], seed: int,
    file: Path, has_all: bool,
) -> None:  # fmt: skip
    """Play a stimulus on the testbench, with a progress bar on a terminal, and write its waves.

    Parameters
    ----------
    console : Console
        Console for messages.
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    case : str
        Test of the detector's ``play_tests``.
    plan : dict
        Configuration of the test.
    seed : int
        Seed for all random choices.
    file : Path
        File of the waves; its folder must exist, and its suffix selects the form.
    has_all : bool
        Whether to record every signal.

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

        model = build(preset, params, waves=Waves(file.suffix.removeprefix("."), has_all))
        # In a folder beside the file, unique to this run: waves may exceed the system's temporary
        # folder.
        with TemporaryDirectory(prefix=f"{file.name}.", dir=file.parent) as folder:
            run_folder = Path(folder)
            result = run(model, module, run_folder, plan, seed=seed, case=case, watch=watch)
            (run_folder / f"{WAVES}{file.suffix}").replace(file)
            log = file.with_name(f"{file.name}.log")
            if result.failures:
                (run_folder / "simulation.log").replace(log)
    for place, text in wave_layouts(file.name, model.views).items():
        atomic_write_text(file.with_name(place), text)
    console.print(f"Waves: {file}", markup=False)
    if result.failures:
        line = shlex.join(["racetrap", *sys.argv[1:]])
        if "--seed" not in sys.argv:
            line += f" --seed {seed}"
        click.echo(f"Log: {log}; run again: {line}", err=True)
        done = [note for note in result.notes if "run" in note]
        after = f"After {done[-1]['run']}, {done[-1]['schedule']}: " if done else ""
        raise Mismatch(f"{after}{result.failures[0].failure}")
