"""Co-simulation of a board's whole device: UART pins in, UART pins out, against the golden model.

``python -m racetrap.fpga.boards.cosimulation BOARD [PRESET]`` plays all micro-benchmarks, or for
SigRace all small programs with threads and some random ones.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from racetrap.fpga import boards
from racetrap.fpga.boards.board_top import device_of
from racetrap.fpga.boards.table import Board, board_params, find_board
from racetrap.generators.systems import system_of
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, run
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.random_run import random_run
from racetrap.sim.cpu.recorder import record
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

__all__ = [
    "DIVISOR",
    "SCORD_TESTBENCH",
    "SIGRACE_TESTBENCH",
    "build_device",
    "play",
    "play_programs",
    "program_plan",
    "program_traces",
]

#: Clock cycles of a bit in co-simulation: the least that the link takes, for short runs.
DIVISOR = 8

#: Small programs that need no other library than pthreads.
_PTHREAD_PROGRAMS = tuple(
    name for name, case in SMALL_PROGRAMS.items() if not case.options and not case.unseen
)
_RANDOM_EVENTS = 60
#: Modules of the testbenches.
SCORD_TESTBENCH, SIGRACE_TESTBENCH = (
    f"racetrap.fpga.boards.{name}" for name in ("scord_testbench", "sigrace_testbench")
)


@dataclass(frozen=True)
class _DeviceModel(BuiltModel):
    """A simulator of a device."""

    @property
    def facts(self) -> dict[str, Any]:
        """What the testbench must know of the build."""
        return {
            "params": asdict(self.params),
            "divisor": DIVISOR,
        }


def build_device(board: Board, params: ScordParams | SigraceParams) -> BuiltModel:
    """Verilate a device, or find it in the cache.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : ScordParams or SigraceParams
        Its configuration.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    module = f"{system_of(params).name}_device"
    files = sorted(Path(boards.__path__[0]).glob("*.py"))
    key = build_key(asdict(params), board.core, DIVISOR, files=files)
    folder = cache_folder() / "verilator" / f"{module}-{key}"
    model = _DeviceModel(module, params, folder, waves=None)
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
    return run(build_device(board, params), SCORD_TESTBENCH, folder, plan, seed=1)


def program_traces(
    params: SigraceParams,
    programs: Sequence[str] = _PTHREAD_PROGRAMS,
    seeds: Sequence[int] = range(6),
) -> dict[str, ThreadTrace]:
    """Small programs, recorded now, and random ones, whose conflict logs become full.

    Parameters
    ----------
    params : SigraceParams
        Configuration, whose number of threads the random programs have.
    programs : sequence of str
        Names of the small programs; by default those of pthreads.
    seeds : sequence of int
        Seeds of the random ones.

    Raises
    ------
    RecordError
        If a program cannot be recorded.
    """
    cases = [SMALL_PROGRAMS[name] for name in programs]
    traces = {
        case.name: record([case.source], [case.name], options=case.options, seed=1).trace
        for case in cases
    }
    random = {
        f"random-{seed}": random_run(seed, threads=params.threads, events=_RANDOM_EVENTS)
        for seed in seeds
    }
    return traces | random


def play_programs(
    board: Board,
    params: SigraceParams,
    folder: Path,
    traces: Mapping[str, ThreadTrace],
    environment: str = "multiplex",
) -> RunResult:
    """Play programs through the UART, and compare every record of conflicts and traps.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : SigraceParams
        Configuration of the device.
    folder : Path
        Folder of traces, log and notes; there is a note with the figures of each program.
    traces : mapping of str to ThreadTrace
        Programs by name.
    environment : str
        How threads are put on contexts.

    Raises
    ------
    SimulationError
        If the simulator crashes or stalls.
    """
    plan = program_plan(folder, traces, environment)
    return run(build_device(board, params), SIGRACE_TESTBENCH, folder, plan, seed=1)


def program_plan(
    folder: Path, traces: Mapping[str, ThreadTrace], environment: str = "multiplex"
) -> dict[str, Any]:
    """What the testbench must know to play programs, whose traces are written into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: str(folder.resolve() / f"{name}.trace") for name in traces}
    for name, trace in traces.items():
        trace.write_binary(Path(files[name]))
    return {"programs": files, "environment": environment}


def main(name: str, preset: str = "scord-local") -> int:
    """Play everything on a board's detector; 0 if it agrees with the golden model, 3 if not."""
    board = find_board(name)
    params = board_params(board, preset)
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(params, SigraceParams):
            traces = program_traces(params)
            result, expected = play_programs(board, params, Path(folder), traces), len(traces)
            good, what = len(result.notes), "programs equal to the golden model"
        else:
            result, expected = play(board, params, Path(folder)), len(MICRO_BENCHMARKS)
            good, what = sum(note["is_right"] for note in result.notes), "verdicts right"
    for failure in result.failures:
        print(failure.failure, file=sys.stderr)
    print(f"{preset} on {name}: {good} of {expected} {what} at the pins")
    return 0 if good == expected and not result.failures else 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
