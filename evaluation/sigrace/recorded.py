"""Recorded programs through SigRace's hardware, each step compared with the compiled model.

Ref: SigRace (ISCA'09) Sections 3 and 4.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare
from racetrap.sim.cpu.program_traces import program_trace

#: Events between two reads of log and counters by software.
_SHARE = 1 << 16
#: Counts of a program.
FIGURES = ("events", "messages", "rdm_steps", "conflicts", "cycles")


@dataclass(frozen=True)
class RecordedProgram:
    """A program to be run; plain data, for a worker process.

    Parameters
    ----------
    model : FastModel
        The hardware.
    program, size : str
        The program, and the size of its run; it has a thread for each thread of the hardware.
    seed : int
        Seed of all that is random in the simulated world.
    """

    model: FastModel[SigraceParams]
    program: str
    size: str
    seed: int


@dataclass(frozen=True)
class ComparedProgram:
    """Result of comparing a program.

    Parameters
    ----------
    program : str
        The program.
    counts : mapping of str to int
        Events of the cores, Summary messages, steps of the RDM, conflicts and clock cycles.
    seconds : float
        CPU time of hardware, golden model and comparison.
    difference : str
        First difference in one sentence; empty if there is none.
    """

    program: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    difference: str = ""


def compare_program(job: RecordedProgram) -> ComparedProgram:
    """Run a recorded program; a difference is a result, not an exception."""
    trace = program_trace(job.program, job.size, job.model.params.threads)
    started = time.process_time()
    counts, difference = Counter(dict.fromkeys(FIGURES, 0)), ""
    try:
        compare_trace(job.model, trace, job.seed, counts)
    except (Mismatch, SimulationError) as error:
        difference = str(error)
    return ComparedProgram(job.program, counts, time.process_time() - started, difference)


def compare_trace(
    model: FastModel[SigraceParams], trace: ThreadTrace, seed: int, counts: Counter[str]
) -> None:
    """Run a trace, each thread on a context of its own, and add its counts.

    Between shares of the events software sometimes empties queues and log.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    random = Random(seed)
    with FastSim(model, seed) as sim:
        compare = StreamCompare(sim, model.params, trace.header.threads)
        for start in range(0, len(trace), _SHARE):
            for clear in (compare.flush, compare.clear_log):
                if random.random() < 0.5:
                    clear()
            run = compare.run(trace.events[start : start + _SHARE])
            counts.update({name: getattr(run, name) for name in FIGURES})
