"""Speed of simulation: accesses a second of the golden model, of the hardware and of both.

Everything is measured in seconds of the processor, since other work on the machine would show
in seconds of the clock.  ``python -m racetrap.evaluation.throughput.scord_speed`` prints the
rates with the golden model that the process uses (see ``racetrap.sim.cosim.verilator.compiled``).

Ref: ScoRD (ISCA'20) Table V (the GPU simulated).
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from racetrap.evaluation.throughput.rates import Cocotb, Rates, child_rates, rate
from racetrap.generators.presets import SCORD_PRESETS
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import Region
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.fast.garbage_collection import garbage_collection_paused
from racetrap.sim.cosim.scord.batch_scoreboard import BatchScoreboard
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import run
from racetrap.sim.cosim.verilator.compiled import is_compiled

__all__ = ["cocotb", "rates", "rates_in_child"]

_PRESET, _KNOBS = "scord", "streaming"
_PARAMS = SCORD_PRESETS[_PRESET].params
_REGION = Region(size_log2=17, metadata_base=1 << 20)
#: Instructions of the workload, and of the part of it that cocotb can do in some seconds.
_INSTRUCTIONS, _FEW_INSTRUCTIONS = 8000, 400
_SEED = 1
_Traffic = list[tuple[int, Transaction]]


def _traffic(seed: int, instructions: int) -> _Traffic:
    events = random_events(_PARAMS, _REGION, KNOBS[_KNOBS], seed, instructions)
    return list(transactions_of(events, _PARAMS))


def _golden(traffic: _Traffic) -> float:
    trackers = [Tracker(_PARAMS, sm) for sm in range(_PARAMS.sm_count)]
    bank = DetectorBank(_PARAMS, _REGION)
    with garbage_collection_paused():
        started = time.process_time()
        for sm, transaction in traffic:
            for packet in trackers[sm].step(transaction):
                bank.step(packet)
        return time.process_time() - started


def _together(sim: FastSim, traffic: _Traffic) -> float:
    started = time.process_time()
    check_launch(sim, _PARAMS, _REGION, traffic)
    return time.process_time() - started


def rates(instructions: int = _INSTRUCTIONS, runs: int = 5) -> Rates:
    """Measure in this process.

    Parameters
    ----------
    instructions : int
        Instructions of the workload.
    runs : int
        Runs of each measurement.

    Raises
    ------
    BuildError, Mismatch, SimulationError
        As of ``check_launch``, and if the hardware cannot be built.
    """
    traffic = _traffic(_SEED, instructions)
    queues: list[list[Transaction]] = [[] for _ in range(_PARAMS.sm_count)]
    board = BatchScoreboard(_PARAMS, _REGION)
    for sm, transaction in traffic:
        queues[sm].append(transaction)
        board.transaction(sm, transaction)
    due = board.due
    with FastSim(build_fast(_PRESET, _PARAMS)) as sim:

        def hardware() -> float:
            sim.launch(_REGION)
            started = time.process_time()
            sim.run(queues, due)
            return time.process_time() - started

        accesses = check_launch(sim, _PARAMS, _REGION, traffic).accesses
        return Rates(
            is_compiled(),
            golden=rate(accesses, runs, lambda: _golden(traffic)),
            hardware=rate(accesses, runs, hardware),
            together=rate(accesses, runs, lambda: _together(sim, traffic)),
        )


def rates_in_child(compiled: bool) -> Rates:
    """Measure in a process of its own, with the compiled golden model or the plain one.

    Raises
    ------
    BuildError
        As of ``child_rates``.
    """
    return child_rates("racetrap.evaluation.throughput.scord_speed", compiled)


def cocotb(tests: str) -> Cocotb:
    """Play one trace on the cocotb bench and on the fast co-simulation.

    Parameters
    ----------
    tests : str
        Module with the cocotb test of random traffic.

    Raises
    ------
    BuildError, Mismatch, SimulationError
        If a simulator cannot be built, or hardware and golden model differ.
    """
    launch = {"knobs": _KNOBS, "instructions": _FEW_INSTRUCTIONS}
    plan = {"region": asdict(_REGION), "launches": [launch]}
    with TemporaryDirectory() as folder:
        result = run(build(_PRESET, _PARAMS), tests, Path(folder), plan, seed=_SEED)
    if result.failures:
        raise BuildError(f"Bench must agree with the golden model, not say {result.failures[0]}")
    note = next(note for note in result.notes if "launch" in note)
    # The bench draws the stimulus of its first launch so.
    seed = Random(f"{_SEED} stimulus 0").getrandbits(32)
    traffic = _traffic(seed, _FEW_INSTRUCTIONS)
    with FastSim(build_fast(_PRESET, _PARAMS)) as sim:
        accesses = check_launch(sim, _PARAMS, _REGION, traffic).accesses
        if accesses != note["counters"]["accesses"]:
            raise BuildError(
                f"Bench must check the same {accesses} accesses, not {note['counters']['accesses']}"
            )
        fast = rate(accesses, 5, lambda: _together(sim, traffic))
    return Cocotb(accesses / note["seconds"], fast.median)


if __name__ == "__main__":
    print(json.dumps(asdict(rates())))
