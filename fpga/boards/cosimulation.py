"""Co-simulation of a board's whole device: UART pins in, UART pins out, against the golden model.

``python -m racetrap.fpga.boards.cosimulation BOARD`` plays all micro-benchmarks.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from racetrap.fpga import boards
from racetrap.fpga.boards.board_top import device_of
from racetrap.fpga.boards.table import Board, board_params, find_board
from racetrap.generators.description import describe_registers
from racetrap.generators.systems import system_of
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.build_cache import cache_folder, source_hash
from racetrap.sim.cocotb_run import RunResult, run
from racetrap.sim.gpu.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.verilator import BuiltModel, build_component

__all__ = ["DIVISOR", "build_device", "play"]

#: Clock cycles of a bit in co-simulation: the least that the link takes, for short runs.
DIVISOR = 8

_MODULE = "scord_device"
_BENCH = "racetrap.fpga.boards.pin_bench"


@dataclass(frozen=True)
class _DeviceModel(BuiltModel):
    """A simulator of a device."""

    @property
    def facts(self) -> dict[str, Any]:
        """What the bench must know of the build."""
        return {
            "params": asdict(self.params),
            "divisor": DIVISOR,
            "registers": describe_registers(system_of(self.params)),
        }


def build_device(board: Board, params: ScordParams) -> BuiltModel:
    """Verilate a device, or find it in the cache.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : ScordParams
        Its configuration.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    sources = source_hash(sorted(Path(boards.__path__[0]).glob("*.py")))
    options = json.dumps([sources, asdict(params), board.core, DIVISOR])
    key = hashlib.sha256(options.encode()).hexdigest()[:16]
    folder = cache_folder() / "verilator" / f"{_MODULE}-{key}"
    model = _DeviceModel(_MODULE, params, folder, waves=False)
    build_component(model, lambda: device_of(board, params, DIVISOR))
    return model


def play(
    board: Board,
    params: ScordParams,
    folder: Path,
    benchmarks: Sequence[str] = tuple(MICRO_BENCHMARKS),
) -> RunResult:
    """Play micro-benchmarks through the UART, and compare every report with the golden model's.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : ScordParams
        Configuration of the device.
    folder : Path
        Folder of log and notes; there is a note with the verdict of each benchmark.
    benchmarks : sequence of str
        Names of the micro-benchmarks.

    Raises
    ------
    SimulationError
        If the simulator crashes or stalls.
    """
    plan = {"benchmarks": list(benchmarks), "core": board.core}
    return run(build_device(board, params), _BENCH, folder, plan, seed=1)


def main(name: str) -> int:
    """Play all micro-benchmarks on a board's ScoRD; 0 if every verdict is right, 3 if not."""
    board = find_board(name)
    params = board_params(board, "scord-local")
    if not isinstance(params, ScordParams):
        raise TypeError(f"Parameters must be of ScoRD, not {params!r}")
    with tempfile.TemporaryDirectory() as folder:
        result = play(board, params, Path(folder))
    for failure in result.failures:
        print(failure.failure, file=sys.stderr)
    right = sum(note["is_right"] for note in result.notes)
    print(f"{name}: {right} of {len(MICRO_BENCHMARKS)} verdicts right at the pins")
    return 0 if right == len(MICRO_BENCHMARKS) and not result.failures else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
