"""Timing of the world around a system that reaches memory by AXI4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from racetrap.sim.cosim.fast.simulation import SimulationTiming


@dataclass(frozen=True)
class MemoryTiming(SimulationTiming):
    """Timing of sources and memories in a run; the defaults are the fastest there is.

    Parameters
    ----------
    idle_percent : int
        Cycles, in percent, in which a source that offers nothing stays silent.
    latency : int
        Cycles from a memory request to its answer, at least 1.
    jitter : int
        Up to so many cycles more, drawn for each request.
    reorder : bool
        Answers to reads of different ids may overtake each other.
    back_pressure : int
        Cycles, in percent, in which a memory holds back a ready or a new answer.
    read_errors, write_errors : int
        Reads and writes answered with an error, of 65536.

    Raises
    ------
    ValueError
        If a value is out of range.
    """

    idle_percent: int = 0
    latency: int = 1
    jitter: int = 0
    reorder: bool = False
    back_pressure: int = 0
    read_errors: int = 0
    write_errors: int = 0

    limits: ClassVar = {
        "idle_percent": (0, 99), "back_pressure": (0, 99), "latency": (1, 1 << 20),
        "jitter": (0, 1 << 20), "read_errors": (0, 1 << 16), "write_errors": (0, 1 << 16),
    }  # fmt: skip
