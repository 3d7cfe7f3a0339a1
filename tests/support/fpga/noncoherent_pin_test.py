"""Test at the pins of the bus monitor's device: random operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.table import Board
from racetrap.fpga.noncoherent.self_test import random_trace
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from tests.support.fpga.cosimulation import PinTest, write_traces

_SEEDS = (3,)


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
