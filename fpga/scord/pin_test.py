"""What is played at the pins of ScoRD's device: micro-benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.cosimulation import PinTest
from racetrap.fpga.boards.table import Board
from racetrap.fpga.scord.board import core_region
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

_RANDOM = 300  # instructions
#: The second finds the metadata that the first has left, unless a launch clears it.
_SOME = ("race_interwarp_none-lock_waw", "norace_interwarp_blklock_waw")


def random_trace(params: ScordParams, seed: int) -> Trace:
    """A random run in the region that every device of these parameters can monitor."""
    region = core_region(params)
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
    )
    return Trace.from_events(header, random_events(params, region, KNOBS["mixed"], seed, _RANDOM))


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
