"""Timing of a system's environment with memory behind AXI4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from racetrap.golden_model.axi import PAGE_BYTES, AxiBurst
from racetrap.sim.cosim.fast.simulation import SimulationTiming
from racetrap.sim.twins import constants, enumeration

#: Declarations of the memories' C++.
AXI_TWINS = (
    enumeration(AxiBurst, prefix="BURST_"), constants({"PAGE_BYTES": PAGE_BYTES}, ctype="uint64_t")
)  # fmt: skip


@dataclass(frozen=True)
class MemoryTiming(SimulationTiming):
    """Timing of sources and memories in a run; the defaults are the fastest.

    Parameters
    ----------
    idle_percent : int
        Percentage of cycles in which an idle source stays idle.
    latency : int
        Cycles from a memory request to its answer, at least 1.
    jitter : int
        Maximum random cycles added to the latency of each request.
    reorder : bool
        Whether answers to reads with different ids may be reordered.
    back_pressure : int
        Percentage of cycles in which a memory withholds a ready or a new answer.
    read_errors, write_errors : int
        Reads and writes answered with an error, of 65536.
    ring_latency, odd_latency : int
        Further cycles from a write to a report ring to its answer, and from a read at an odd
        metadata port.

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
    ring_latency: int = 0
    odd_latency: int = 0

    limits: ClassVar = {
        "idle_percent": (0, 99), "back_pressure": (0, 99), "latency": (1, 1 << 20),
        "jitter": (0, 1 << 20), "read_errors": (0, 1 << 16), "write_errors": (0, 1 << 16),
        "ring_latency": (0, 1 << 20), "odd_latency": (0, 1 << 20),
    }  # fmt: skip
