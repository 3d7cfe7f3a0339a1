"""Co-simulation of a board's whole device: UART pins in, UART pins out, against the golden model.

``python -m tests.support.fpga.cosimulation BOARD [PRESET]`` plays all that the detector has for
it (``PIN_TEST``): micro-benchmarks, programs with threads, operations.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from racetrap.commands.shared.ending import ends
from racetrap.fpga import boards, gpu
from racetrap.fpga.boards.board_top import device_of
from racetrap.fpga.boards.table import Board, board_params, find_board
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, run

#: Clock cycles of a bit in co-simulation: the link's minimum, for short runs.
DIVISOR = 8


@dataclass(frozen=True)
class PinTest:
    """Test at the pins of a detector's device.

    Parameters
    ----------
    plan : callable
        Given board, parameters and a folder for files, the plan of the testbench for everything.
    short_plan : callable
        The same for a part, which suffices to find planted bugs.
    notes : callable
        Expected number of notes of a plan's run.
    what : str
        Meaning of a good note.
    """

    plan: Callable[[Board, Any, Path], dict[str, Any]]
    short_plan: Callable[[Board, Any, Path], dict[str, Any]]
    notes: Callable[[Mapping[str, Any]], int]
    what: str


@dataclass(frozen=True)
class _DeviceModel(BuiltModel):
    """A simulator of a device."""

    @property
    def facts(self) -> dict[str, Any]:
        """Facts of the build for the testbench."""
        return {
            "params": asdict(self.params),
            "divisor": DIVISOR,
        }


def build_device(board: Board, params: Params) -> BuiltModel:
    """Verilate a device, or find it in the cache.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : Params
        Its configuration.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    module = f"{system_of(params).name}_device"
    folders = [*boards.__path__, *gpu.__path__, *system_of(params).own("fpga").__path__]
    files = sorted(file for folder in folders for file in Path(folder).glob("*.py"))
    key = build_key(asdict(params), board.core, DIVISOR, files=files)
    folder = cache_folder() / "verilator" / f"{module}-{key}"
    model = _DeviceModel(module, params, folder, waves=None)
    build_component(model, lambda: device_of(board, params, DIVISOR))
    return model


def _part(params: Params, part: str) -> ModuleType:
    return import_module(f"tests.support.fpga.{system_of(params).name}_{part}")


def pin_test_of(params: Params) -> PinTest:
    """What is played at the pins of the device of the detector that parameters belong to."""
    test: PinTest = _part(params, "pin_test").PIN_TEST
    return test


def play(model: BuiltModel, plan: Mapping[str, Any], folder: Path) -> RunResult:
    """Play a plan through the UART, and compare all replies with the golden model's.

    Parameters
    ----------
    model : BuiltModel
        The device, by ``build_device``.
    plan : mapping of str to value
        Plan of the detector's testbench, described in its docstring.
    folder : Path
        Folder of log and notes.

    Raises
    ------
    SimulationError
        If the simulator crashes or stalls.
    """
    testbench = f"tests.support.fpga.{system_of(model.params).name}_testbench"
    return run(model, testbench, folder, dict(plan), seed=1)


def write_traces(
    folder: Path,
    traces: Mapping[str, Trace] | Mapping[str, ThreadTrace] | Mapping[str, NoncoherentTrace],
) -> dict[str, str]:
    """Write traces into ``folder``; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: str(folder.resolve() / f"{name}.trace") for name in traces}
    for name, trace in traces.items():
        trace.write_binary(Path(files[name]))
    return files


def main(name: str, preset: str = "scord-local") -> int:
    """Play everything on a board's detector; 0 if it agrees with the golden model, 3 if not."""
    board = find_board(name)
    params = board_params(board, preset)
    test = pin_test_of(params)
    with ends(), tempfile.TemporaryDirectory() as folder:
        plan = test.plan(board, params, Path(folder))
        result = play(build_device(board, params), plan, Path(folder))
    good, expected = sum(note.get("is_right", True) for note in result.notes), test.notes(plan)
    for failure in result.failures:
        print(failure.failure, file=sys.stderr)
    print(f"{preset} on {name}: {good} of {expected} {test.what} at the pins")
    return 0 if good == expected and not result.failures else 3


if __name__ == "__main__":
    # The detector's own part imports this module by its name.
    from tests.support.fpga import cosimulation

    sys.exit(cosimulation.main(*sys.argv[1:]))
