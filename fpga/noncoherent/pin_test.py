"""What is played at the pins of the bus monitor's device: random operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from racetrap.fpga.boards.cosimulation import PinTest, write_traces
from racetrap.fpga.boards.table import Board
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import NoncoherentTraceHeader
from racetrap.sim.accelerator.random_operations import random_operations

#: Random operations of a trace, and the lines of memory that they are on.
_OPERATIONS, _LINES = 80, 8
_SEEDS = (3,)


def random_trace(params: NoncoherentParams, seed: int) -> NoncoherentTrace:
    """A trace of random operations, at the start of memory, for a monitor's memory system."""
    size = _LINES * params.line_bytes
    operations = random_operations(Random(seed), params.memory, _OPERATIONS, size)
    return NoncoherentTrace.from_events(NoncoherentTraceHeader(memory=params.memory), operations)


def operation_traces(
    params: NoncoherentParams, seeds: Sequence[int] = range(8)
) -> dict[str, NoncoherentTrace]:
    """Random traces by name."""
    return {f"random-{seed}": random_trace(params, seed) for seed in seeds}


def operation_plan(folder: Path, traces: Mapping[str, NoncoherentTrace]) -> dict[str, Any]:
    """Plan of the testbench for traces, which are written into ``folder``."""
    return {"traces": write_traces(folder, traces)}


def _plan(board: Board, params: NoncoherentParams, folder: Path) -> dict[str, Any]:
    return operation_plan(folder, operation_traces(params))


def _short_plan(board: Board, params: NoncoherentParams, folder: Path) -> dict[str, Any]:
    return operation_plan(folder, operation_traces(params, _SEEDS))


PIN_TEST = PinTest(
    _plan,
    _short_plan,
    lambda plan: len(plan["traces"]) + 1,  # there is one more note on the overload
    "traces equal to the golden model",
)
