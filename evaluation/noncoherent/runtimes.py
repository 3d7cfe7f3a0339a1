"""Time of the analysis: the thesis' programs at the sizes of the originals.

Ref: Young (UBC 2020) Section 5.2, Figure 5.1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.programs.traces import record_program

#: Lines of the trace and seconds of the analysis, where the thesis gives them in numbers.
PAPER = {"libfixmath": (6_000, 0.03), "mtx_sobel": (29_000_000, 815_000.0)}


@dataclass(frozen=True)
class AnalysisTime:
    """A program's trace and the time to check it.

    Parameters
    ----------
    program : str
        Its name.
    operations : int
        Operations of its trace.
    seconds : dict of str to float
        Wall-clock time of the compiled detector by mode.
    most_runs : int
        Most runs of bytes that mode ``strict`` holds: what memory grows with.
    """

    program: str
    operations: int
    seconds: dict[str, float]
    most_runs: int


def measure_analysis(name: str) -> AnalysisTime:
    """Record a program of the thesis at its original's size, and check it."""
    program = ACCELERATOR_PROGRAMS[name]
    trace = record_program(program, program.large)
    seconds, most_runs = {}, 0
    for mode in MODES:
        detector = Noncoherent(trace.header.memory, mode)
        run_compiled(detector, trace.events[:1])  # compiles the detector, if need be
        start = time.perf_counter()
        result = run_compiled(detector, trace.events)
        seconds[mode] = time.perf_counter() - start
        most_runs = max(most_runs, result.most_runs)
    return AnalysisTime(name, len(trace), seconds, most_runs)
