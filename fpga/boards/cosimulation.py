"""Co-simulation of a board's whole device: UART pins in, UART pins out, against the golden model.

``python -m racetrap.fpga.boards.cosimulation BOARD [PRESET]`` plays all micro-benchmarks; for
SigRace all small programs with threads and some random ones; for the bus monitor random
operations.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from racetrap.fpga import boards
from racetrap.fpga.boards.board_top import device_of
from racetrap.fpga.boards.table import Board, board_params, find_board
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import NoncoherentTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.accelerator.random_operations import random_operations
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, run
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.random_run import random_run
from racetrap.sim.cpu.recorder import record
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

__all__ = [
    "DIVISOR",
    "NONCOHERENT_TESTBENCH",
    "SCORD_TESTBENCH",
    "SIGRACE_TESTBENCH",
    "build_device",
    "operation_plan",
    "operation_traces",
    "play",
    "play_operations",
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
#: Random operations of a trace, and the lines of memory that they are on.
_OPERATIONS, _LINES = 80, 8
#: Modules of the testbenches.
SCORD_TESTBENCH, SIGRACE_TESTBENCH, NONCOHERENT_TESTBENCH = (
    f"racetrap.fpga.boards.{name}_testbench" for name in ("scord", "sigrace", "noncoherent")
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
    return {"programs": _written(folder, traces), "environment": environment}


def operation_traces(
    params: NoncoherentParams, seeds: Sequence[int] = range(8)
) -> dict[str, NoncoherentTrace]:
    """Traces of random operations, at the start of memory, for a monitor's memory system."""
    header = NoncoherentTraceHeader(memory=params.memory)
    return {
        f"random-{seed}": NoncoherentTrace.from_events(
            header,
            random_operations(Random(seed), params.memory, _OPERATIONS, _LINES * params.line_bytes),
        )
        for seed in seeds
    }


def play_operations(
    board: Board, params: NoncoherentParams, folder: Path, traces: Mapping[str, NoncoherentTrace]
) -> RunResult:
    """Play operations through the UART, and compare every report and counter; then an overload.

    Parameters
    ----------
    board : Board
        The board whose device it is.
    params : NoncoherentParams
        Configuration of the device.
    folder : Path
        Folder of traces, log and notes; there is a note with the figures of each trace.
    traces : mapping of str to NoncoherentTrace
        Traces by name.

    Raises
    ------
    SimulationError
        If the simulator crashes or stalls.
    """
    plan = operation_plan(folder, traces)
    return run(build_device(board, params), NONCOHERENT_TESTBENCH, folder, plan, seed=1)


def operation_plan(folder: Path, traces: Mapping[str, NoncoherentTrace]) -> dict[str, Any]:
    """What the testbench must know to play traces, which are written into ``folder``."""
    return {"traces": _written(folder, traces)}


def _written(
    folder: Path, traces: Mapping[str, ThreadTrace] | Mapping[str, NoncoherentTrace]
) -> dict[str, str]:
    """Write traces into ``folder``; gives their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: str(folder.resolve() / f"{name}.trace") for name in traces}
    for name, trace in traces.items():
        trace.write_binary(Path(files[name]))
    return files


def main(name: str, preset: str = "scord-local") -> int:
    """Play everything on a board's detector; 0 if it agrees with the golden model, 3 if not."""
    board = find_board(name)
    params = board_params(board, preset)
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(params, SigraceParams):
            traces = program_traces(params)
            result, expected = play_programs(board, params, Path(folder), traces), len(traces)
            good, what = len(result.notes), "programs equal to the golden model"
        elif isinstance(params, NoncoherentParams):
            operations = operation_traces(params)
            result = play_operations(board, params, Path(folder), operations)
            # There is one more note on the overload.
            good, expected = len(result.notes), len(operations) + 1
            what = "traces equal to the golden model"
        else:
            result, expected = play(board, params, Path(folder)), len(MICRO_BENCHMARKS)
            good, what = sum(note["is_right"] for note in result.notes), "verdicts right"
    for failure in result.failures:
        print(failure.failure, file=sys.stderr)
    print(f"{preset} on {name}: {good} of {expected} {what} at the pins")
    return 0 if good == expected and not result.failures else 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
