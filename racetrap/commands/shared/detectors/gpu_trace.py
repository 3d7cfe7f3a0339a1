"""Simulation of a trace of a GPU, for each of its detectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racetrap.commands.shared.simulation import Simulation
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.presenters import gpu_races

if TYPE_CHECKING:
    # What plays it needs generated hardware, an extra.
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
