"""CUDA programs compiled, run and checked, with the time and memory that it took."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.evaluation.processes import cpu_seconds, memory_of_process
from racetrap.sim.gpu.cuda.program_run import ProgramError
from racetrap.sim.gpu.cuda.toolkit import CompilerOptions, ToolkitError
from tests.cuda_verdicts import check_source

_MIB = 1 << 20


@dataclass(frozen=True)
class MeasuredCheck:
    """What came of a program.

    Parameters
    ----------
    problem : str
        Why it was not compiled or run to its end; empty if it was.
    status : int
        Exit status of the program.
    printed : str
        What it printed.
    races : list of str
        The two lines of each race.
    launches, events : int
        Launches, and events of its trace.
    seconds : float
        CPU time from source to verdict.
    mebibytes : int
        Peak memory of this process.
    """

    problem: str
    status: int
    printed: str
    races: list[str]
    launches: int
    events: int
    seconds: float
    mebibytes: int


def measure_check(sources: Sequence[Path], options: CompilerOptions, folder: Path) -> MeasuredCheck:
    """Compile a program, the first source of which has its ``main``, in a folder; run and check
    it."""
    begin = cpu_seconds()
    problem, printed, races = "", "", list[str]()
    status = launches = events = 0
    try:
        check, printed = check_source(sources[0], options, folder, sources[1:])
    except (ToolkitError, ProgramError) as error:
        problem = str(error).splitlines()[0]
    else:
        # The place has the folder in which a header is installed.
        problems = [re.sub(r" \(/\S+\)$", "", each) for each in check.problems]
        problem, status = "; ".join([*check.faults, *problems]), check.status
        launches, events = len(check.launches), sum(check.traces.events)
        races = [
            " and ".join(
                f"{side.access} at {Path(side.place).name}"
                for side in (pair.first.earlier, pair.first.later)
            )
            for pair in check.traces.pairs
        ]
    return MeasuredCheck(
        problem, status, printed, races, launches, events, round(cpu_seconds() - begin, 1),
        memory_of_process("VmHWM") // _MIB,
    )  # fmt: skip
