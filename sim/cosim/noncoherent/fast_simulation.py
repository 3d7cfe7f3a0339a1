"""Fast simulation of a bus monitor, run by run of operations."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int, c_uint64, c_void_p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.packing import pack_tuples, record_at
from racetrap.sim.cosim.fast.simulation import Functions, Simulation
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware

_RECORD_WORDS = 4  # 64-bit words of a report

#: Functions of shim.cpp besides those of every library.
_FUNCTIONS: Functions = {
    "sim_ring": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_run": (c_int, [c_void_p, c_void_p, c_uint64, c_uint64]),
}


class SimStats(NamedTuple):
    """Cycles since reset, a digest of all transfers with their cycles, and report writes
    answered with an error."""

    cycles: int
    digest: int
    write_errors: int


class FastSim(Simulation[MemoryTiming, SimStats]):
    """A monitor after reset, with memory behind its report port.

    Parameters
    ----------
    model : FastModel
        Library from ``build_fast``.
    seed : int
        Seed of all randomness in the simulation, including unreset state.
    timing : MemoryTiming
        Timing of the source of operations and of the memory; may be changed between runs.

    Attributes
    ----------
    software : MonitorSoftware
        Its driver.

    Raises
    ------
    SimulationError
        From every method that advances time.
    """

    def __init__(
        self, model: FastModel[NoncoherentParams], seed: int = 0,
        timing: MemoryTiming | None = None,
    ):  # fmt: skip
        super().__init__(model, seed, _FUNCTIONS, timing or MemoryTiming(), SimStats)
        self._params = model.params
        self.software = MonitorSoftware(self, self._wait_until)

    def start(self, capacity_log2: int = 10, *, enable: bool = True) -> None:
        """Clear all operations, the counters and the report ring.

        Parameters
        ----------
        capacity_log2 : int
            Log2 of the ring's records.
        enable : bool
            Whether operations are checked.
        """
        base = 1 << (self._params.address_bits - 1)
        words = np.zeros(_RECORD_WORDS << capacity_log2, dtype=np.uint64)
        self._buffers["ring"] = words
        self._library.sim_ring(self._sim, base, words.ctypes.data, len(words))
        self.software.start(base, capacity_log2, enable=enable)

    def run(self, operations: Sequence[BusOperation], steps: int) -> None:
        """Play operations until all are taken, the expected steps have come and nothing is
        pending."""
        words = self._buffers["operations"] = pack_tuples(self._params.operation_layout, operations)
        failed = self._library.sim_run(self._sim, words.ctypes.data, len(operations), steps)
        self._must(not failed)
        self.software.wait_idle()

    def step_words(self) -> NDArray[np.uint32]:
        """Steps of the last run, each a row of 32-bit words."""
        return self._trace(0, self._params.step_layout)

    def step_cycles(self) -> list[int]:
        """Cycle, since reset, of each step of the last run."""
        return self._trace_cycles(0)

    def reports(self) -> list[int]:
        """Records written to the ring since the start or the last call, oldest first."""
        ring = self._buffers["ring"]
        return self.software.read_records(lambda place: record_at(ring, place, _RECORD_WORDS))
