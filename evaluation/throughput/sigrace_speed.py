"""Speed of SigRace's simulation: events a second of the golden model, the hardware and both.

``python -m racetrap.evaluation.throughput.sigrace_speed`` prints the rates with the golden model
that the process uses (see ``racetrap.sim.cosim.verilator.compiled``).

Ref: SigRace (ISCA'09) Table 4 (the multiprocessor simulated).
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from racetrap.evaluation.throughput.rates import Cocotb, Rates, child_rates, rate
from racetrap.generators.presets import SIGRACE_PRESETS
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command, Remap
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.fast.garbage_collection import garbage_collection_paused
from racetrap.sim.cosim.sigrace.fast_compare import check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.plans import fast_cores, random_plan
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import run
from racetrap.sim.cosim.verilator.compiled import is_compiled

__all__ = ["cocotb", "rates", "rates_in_child"]

_PRESET, _KNOBS = "sigrace", "mixed"
_PARAMS = SIGRACE_PRESETS[_PRESET].params
#: Actions of the workload, and of the part of it that cocotb can do in some seconds.
_ACTIONS, _FEW_ACTIONS = 100_000, 10_000
_SEED = 1


def _golden(commands: list[Command]) -> float:
    """Seconds of the golden model in the commands' order."""
    units = {
        (core, context): CoreUnit(_PARAMS, core, context)
        for core in range(_PARAMS.cores)
        for context in range(_PARAMS.contexts)
    }
    rdm = Rdm(_PARAMS)
    with garbage_collection_paused():
        started = time.process_time()
        for command in commands:
            if isinstance(command, Remap):
                rdm.map(*command)
                continue
            unit = units[command.core, command.context]
            unit.step(command.event)
            for block in unit.blocks:
                rdm.summary(block.summary(_PARAMS))
            unit.blocks.clear()
            unit.traps.clear()
        return time.process_time() - started


def _together(commands: list[Command]) -> tuple[float, float]:
    """Seconds of hardware and golden model with everything compared, and of the hardware."""
    with FastSim(build_fast(_PRESET, _PARAMS)) as sim:
        sim.rdm.control()
        started = time.process_time()
        check_commands(sim, Scoreboard(_PARAMS), _PARAMS, commands)
        return time.process_time() - started, sim.seconds


def rates(actions: int = _ACTIONS, runs: int = 5) -> Rates:
    """Measure in this process.

    Parameters
    ----------
    actions : int
        Actions of the workload, most of which are an event.
    runs : int
        Runs of each measurement.

    Raises
    ------
    BuildError, Mismatch, SimulationError
        As of ``check_commands``, and if the hardware cannot be built.
    """
    commands = list(random_events(_PARAMS, KNOBS[_KNOBS], _SEED, actions))
    events = sum(not isinstance(command, Remap) for command in commands)
    return Rates(
        is_compiled(),
        golden=rate(events, runs, lambda: _golden(commands)),
        hardware=rate(events, runs, lambda: _together(commands)[1]),
        together=rate(events, runs, lambda: _together(commands)[0]),
    )


def rates_in_child(compiled: bool) -> Rates:
    """Measure in a process of its own, with the compiled golden model or the plain one.

    Raises
    ------
    BuildError
        As of ``child_rates``.
    """
    return child_rates("racetrap.evaluation.throughput.sigrace_speed", compiled)


def cocotb(tests: str) -> Cocotb:
    """Play one workload on the cocotb bench and on the fast co-simulation.

    Parameters
    ----------
    tests : str
        Module with the cocotb test of random events.

    Raises
    ------
    BuildError, Mismatch, SimulationError
        If a simulator cannot be built, or hardware and golden model differ.
    """
    plan = random_plan([_KNOBS], _FEW_ACTIONS, fast_cores())
    with TemporaryDirectory() as folder:
        result = run(build(_PRESET, _PARAMS), tests, Path(folder), plan, seed=_SEED)
    if result.failures:
        raise BuildError(f"Bench must agree with the golden model, not say {result.failures[0]}")
    note = next(note for note in result.notes if "run" in note)
    # The bench draws the stimulus of its first run so.
    seed = Random(f"{_SEED} stimulus 0").getrandbits(32)
    commands = list(random_events(_PARAMS, KNOBS[_KNOBS], seed, _FEW_ACTIONS))
    events = sum(not isinstance(command, Remap) for command in commands)
    if events != note["events"]:
        raise BuildError(f"Bench must check the same {events} events, not {note['events']}")
    fast = rate(events, 5, lambda: _together(commands)[0])
    return Cocotb(events / note["seconds"], fast.median)


if __name__ == "__main__":
    print(json.dumps(asdict(rates())))
