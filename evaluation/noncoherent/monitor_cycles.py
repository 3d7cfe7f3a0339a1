"""Cycles of the generated bus monitor on our programs: how far from a row a cycle it stays."""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.evaluation.noncoherent.monitor_quality import params_for
from racetrap.golden_model.noncoherent.params import Mode
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.programs.traces import record_program
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.verdict.accelerators.hardware import simulate_trace

_ENTRIES = 8


@dataclass(frozen=True)
class CyclesPart:
    """A program to play, whole, and the seed of the simulated world."""

    program: str
    seed: int


@dataclass(frozen=True)
class ProgramCycles:
    """A program on the hardware, with rules of mode ``strict`` and 8 entries a set.

    Parameters
    ----------
    program : str
        Name of the program.
    rows, cycles, merges : int
        Rows checked, clock cycles from the first to the last, and how often two entries became
        one because the set was full.
    difference : str
        How hardware and golden model differ; empty if they agree.
    """

    program: str
    rows: int = 0
    cycles: int = 0
    merges: int = 0
    difference: str = ""


def measure_cycles(part: CyclesPart) -> ProgramCycles:
    """Play a program on the monitor for its memory system, every step compared."""
    program = ACCELERATOR_PROGRAMS[part.program]
    trace = record_program(program, program.small)
    params = params_for(trace.header.memory, Mode.STRICT, _ENTRIES)
    model = build_fast("noncoherent", params)
    try:
        found = simulate_trace(model, trace, part.seed, lambda _: None)
    except Mismatch as difference:
        return ProgramCycles(part.program, difference=str(difference))
    return ProgramCycles(part.program, found.rows, found.cycles, found.compactions)
