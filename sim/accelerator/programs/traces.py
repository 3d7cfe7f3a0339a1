"""Traces of the programs with accelerators."""

from __future__ import annotations

import os

from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.sim.accelerator.programs.catalogue import AcceleratorProgram
from racetrap.sim.accelerator.recorder import record_accelerator


def record_program(program: AcceleratorProgram, size: int, *omissions: str) -> NoncoherentTrace:
    """Record a program of the catalogue on its hardware; its output is discarded.

    Parameters
    ----------
    program : AcceleratorProgram
        The program.
    size : int
        Its size.
    *omissions : str
        Omissions to apply.

    Raises
    ------
    RecordError
        If it cannot be recorded.
    """
    with open(os.devnull, "w", encoding="ascii") as nowhere:
        return record_accelerator(
            [program.source], [str(size), *omissions], memory=program.memory,
            allocator=program.allocator, output=nowhere,
        ).trace  # fmt: skip
