"""Traces of a GPU in simulation and on a board, for each of its detectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.simulation import Simulation
from racetrap.commands.shared.terminal import progress
from racetrap.golden_model.gpu.model import GpuModel
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.presenters import gpu_races
from racetrap.presenters.board_runs import gpu_run_to_dict, print_gpu_run
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.verdict.gpu.findings import Finding

if TYPE_CHECKING:
    # What plays it needs generated hardware, an extra.
    from racetrap.fpga.gpu.board import GpuBoard
    from racetrap.verdict.gpu.simulated_trace import SimulatedTrace


def simulate(
    call: Simulation, path: str, trace: Trace, region: Region,
    play: Callable[..., SimulatedTrace],
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Play a trace and print its races; how many, and what JSON says of them.

    Parameters
    ----------
    call : Simulation
        What was asked for.
    path : str
        File of the trace.
    trace : Trace
        Trace that fits the configuration.
    region : Region
        The region of the trace, which waves are of.
    play : callable
        The detector's ``simulate_trace``.
    """
    races = gpu_races.race_list(call.console, call.choice)
    found = play(call.build(), trace, call.seed, races.take)
    gpu_races.print_kinds(call.console, races)
    call.console.print(
        f"Races: {races.count} in {len(trace)} events; hardware and golden model agree in "
        f"all {found.steps} steps ({found.cycles} cycles)."
    )
    if found.left_out is not None:
        call.console.print(gpu_races.left_out_sentence(call.preset, found.left_out))
    call.write_waves("play_trace", {"trace": str(Path(path).resolve()), "region": asdict(region)})
    return races.count, {**asdict(found), "races": races.json}


def check_lanes(trace: Trace, params: GpuParams) -> None:
    """Raise ``ValueError`` if a trace's lanes are not scheduled as a board takes them."""
    independent = bool(trace.header.independent_threads)
    if params.with_lanes(independent) != params:
        forms = ("in lockstep", "independent threads")
        raise ValueError(
            f"Lanes of the trace must be {forms[not independent]} as on the board, "
            f"not {forms[independent]}"
        )


def stream(
    board: GpuBoard, trace: Trace, region: Region, golden: tuple[GpuModel, Iterable[Finding]],
    choice: RaceChoice, where: str, console: Console,
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Stream a trace to a board, compare and print the races; how many, and what JSON says of them.

    Parameters
    ----------
    board : GpuBoard
        The detector's board.
    trace : Trace
        Trace that fits the configuration.
    region : Region
        The region that the board monitors.
    golden : (GpuModel, iterable of Finding)
        The golden model before the trace, and its races, whose iteration advances it.
    choice : RaceChoice
        Races that are listed.
    where : str
        What people call the board.
    console : Console
        Where they are listed.
    """
    from racetrap.fpga.gpu.run import check_reports, run_trace

    model, found = golden
    # A report may be of two races, with the writer and with the reader before.
    model.keep_races = True
    races, findings = gpu_races.race_list(console, choice), list(found)
    run = run_trace(board, region, progress(trace, "Streaming", len(trace)))
    if difference := check_reports(model.races, run):
        raise Mismatch(difference)
    races.take_all(findings)
    print_gpu_run(console, where, trace, races, run)
    return races.count, gpu_run_to_dict(races, run)
