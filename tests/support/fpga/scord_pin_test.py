"""Test at the pins of ScoRD's device: micro-benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.table import Board
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from tests.support.fpga.cosimulation import PinTest

#: The second finds the metadata that the first has left, unless a launch clears it.
_SOME = ("race_interwarp_none-lock_waw", "norace_interwarp_blklock_waw")


def benchmark_plan(
    board: Board, benchmarks: Sequence[str] = tuple(MICRO_BENCHMARKS)
) -> dict[str, Any]:
    """Plan of the testbench for micro-benchmarks, each with a note of its verdict."""
    return {"benchmarks": list(benchmarks), "core": board.core}


def _plan(board: Board, params: ScordParams, folder: Path) -> dict[str, Any]:
    return benchmark_plan(board)


def _short_plan(board: Board, params: ScordParams, folder: Path) -> dict[str, Any]:
    return benchmark_plan(board, _SOME)


PIN_TEST = PinTest(_plan, _short_plan, lambda plan: len(plan["benchmarks"]), "verdicts right")
