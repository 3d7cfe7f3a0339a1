"""Runs of BARRACUDA's benchmarks: races by three rules, instrumented instructions, and overhead.

Ref: BARRACUDA (PLDI'17) Section 6, Table 1, Figures 9 and 10.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path

from racetrap.evaluation.barracuda.instrumented import instrumented
from racetrap.evaluation.processes import memory_of_process
from racetrap.evaluation.scord.programs import Schedule
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.program_run import ProgramRun, run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.sim.gpu.oracle import OracleRule, RunningJudge, judge_trace, run_oracle
from racetrap.sim.gpu.suites.barracuda.benchmarks import BENCHMARKS

#: Rules whose races stand side by side: the paper's own first.
RULES = ("barracuda", "scoped", "causality")
#: Ways of running a program whose cost is compared, the untraced run first.
WAYS = ("untraced", "judged while running", "traced, then barracuda")
_MIB = 1 << 20
#: Runs of each way, the fastest of which counts.
_REPEATS = 3


@dataclass(frozen=True)
class BenchmarkRun:
    """A benchmark to be run; plain data, for a worker process.

    Parameters
    ----------
    name : str
        Its name.
    schedules : tuple of Schedule
        How to schedule it.
    """

    name: str
    schedules: tuple[Schedule, ...]


@dataclass(frozen=True)
class Cost:
    """What a way of running costs.

    Parameters
    ----------
    seconds : float
        Least CPU time of a run, from the program's start to the verdict; the kernels had been
        translated before.
    mebibytes : int
        Peak memory of the process with the executor and the analysis.
    """

    seconds: float
    mebibytes: int


@dataclass(frozen=True)
class Measured:
    """What was found in a benchmark.

    Parameters
    ----------
    name : str
        Its name.
    instructions, logged, left : int
        Static instructions, those that the paper instruments, and those left by its pruning.
    threads : int
        Threads of the largest kernel.
    events : int
        Events of the first schedule.
    races : dict of str to int
        Racing pairs of instructions by rule and memory (``barracuda, shared``), all schedules.
    costs : dict of str to Cost
        By ``WAYS``.
    problems : tuple of str
        Failures of the program: its own check, or calls that could not be served.
    """

    name: str
    instructions: int
    logged: int
    left: int
    threads: int
    events: int
    races: dict[str, int]
    costs: dict[str, Cost]
    problems: tuple[str, ...]

    def races_of(self, rule: str) -> int:
        """Racing pairs of instructions by a rule, in all memories."""
        return sum(self.races[f"{rule}, {space}"] for space in ("global", "shared"))

    def percent(self, count: int) -> float:
        """Share of the static instructions."""
        return round(100 * count / max(1, self.instructions), 1)

    def factor(self, way: str) -> float:
        """CPU time of a way of running over that of the untraced run."""
        least = max(1e-3, self.costs[WAYS[0]].seconds)
        return round(self.costs[way].seconds / least, 2)


def measure(run: BenchmarkRun) -> Measured:
    """Compile a benchmark, run it in each schedule, and measure what checking it costs.

    Raises
    ------
    ToolkitError
        If it cannot be compiled.
    ProgramError
        If it cannot be run.
    """
    benchmark = BENCHMARKS[run.name]
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        program = Path(folder) / "program"
        compile_program([benchmark.path], program, runtime_library(), benchmark.options)
        found = _judge(run, program)
        costs = {way: _apart(partial(_cost, str(program), way)) for way in WAYS}
    return replace(found, costs=costs)


def _settings(schedule: Schedule, **more: object) -> RunSettings:
    # The paper's warps run in lockstep.
    settings = RunSettings(
        scheduler=schedule.scheduler, seed=schedule.own_seed, independent_threads=False
    )
    return replace(settings, **more)  # type: ignore[arg-type]


def _judge(run: BenchmarkRun, program: Path) -> Measured:
    pairs: dict[str, set[frozenset[int]]] = {
        f"{rule}, {space}": set() for rule in RULES for space in ("global", "shared")
    }
    runs: list[ProgramRun] = []
    with open(os.devnull, "wb") as nowhere:
        for schedule in run.schedules:
            done = run_program([str(program)], _settings(schedule, output=nowhere.fileno()))
            runs.append(done)
            for rule in RULES:
                for race in run_oracle(done.trace, rule).races:
                    both = frozenset((race.first.pc, race.second.pc))
                    pairs[f"{rule}, {race.space.name.lower()}"].add(both)
    total, logged, left = instrumented(runs[0].functions)
    problems = [problem for done in runs for problem in done.problems]
    problems += [f"ended with status {done.status}" for done in runs if done.status]
    return Measured(
        run.name, total, logged, left,
        max((prod(each.grid) * prod(each.block) for each in runs[0].launches), default=0),
        len(runs[0].trace), {key: len(found) for key, found in pairs.items()}, {},
        tuple(dict.fromkeys(problems)),
    )  # fmt: skip


def _apart(call: Callable[[], Cost]) -> Cost:
    """Result of a call in a process of its own, whose peak memory is that of the call."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(call).result()


def _cost(program: str, way: str) -> Cost:
    schedule = Schedule(0, 1)
    ways: dict[str, Callable[[int], object]] = {
        "untraced": lambda output: _untraced([program], schedule, output),
        "judged while running": lambda output: _judged([program], schedule, output),
        "traced, then barracuda": lambda output: run_oracle(
            run_program([program], _settings(schedule, output=output)).trace, "barracuda"
        ),
    }
    with open(os.devnull, "wb") as nowhere:
        _untraced([program], schedule, nowhere.fileno())
        seconds = []
        for _ in range(_REPEATS):
            begin = time.process_time()
            ways[way](nowhere.fileno())
            seconds.append(time.process_time() - begin)
    return Cost(min(seconds), memory_of_process("VmHWM") // _MIB)


def _untraced(command: Sequence[str], schedule: Schedule, output: int) -> None:
    run_program(command, _settings(schedule, output=output, launches=range(0)))


def _judged(command: Sequence[str], schedule: Schedule, output: int) -> None:
    make_judge = partial(RunningJudge, OracleRule.CAUSALITY, False)
    run = run_program(command, _settings(schedule, output=output, make_judge=make_judge))
    if isinstance(run.judge, RunningJudge):
        run.judge.end()
    else:
        judge_trace(run.trace, RULES[-1], False)
