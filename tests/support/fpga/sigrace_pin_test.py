"""What is played at the pins of SigRace's device: recorded programs, and random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.table import Board
from racetrap.fpga.sigrace.self_test import random_trace
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.recorder import record
from tests.support.fpga.cosimulation import PinTest, write_traces
from tests.support.threads.small_programs import PTHREAD_PROGRAMS, SMALL_PROGRAMS

#: One small program with threads, and a random one whose conflict logs become full.
_PROGRAMS, _SEEDS = ("create_before_data",), (3,)


def program_traces(
    params: SigraceParams,
    programs: Sequence[str] = PTHREAD_PROGRAMS,
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
    traces = {case.name: record([case.source], [case.name], seed=1).trace for case in cases}
    return traces | {f"random-{seed}": random_trace(params, seed) for seed in seeds}


def program_plan(
    folder: Path, traces: Mapping[str, ThreadTrace], environment: str = "multiplex"
) -> dict[str, Any]:
    """What the testbench must know to play programs, whose traces are written into ``folder``."""
    return {"programs": write_traces(folder, traces), "environment": environment}


def _plan(board: Board, params: SigraceParams, folder: Path) -> dict[str, Any]:
    return program_plan(folder, program_traces(params))


def _short_plan(board: Board, params: SigraceParams, folder: Path) -> dict[str, Any]:
    return program_plan(folder, program_traces(params, _PROGRAMS, _SEEDS))


PIN_TEST = PinTest(
    _plan, _short_plan, lambda plan: len(plan["programs"]), "programs equal to the golden model"
)
