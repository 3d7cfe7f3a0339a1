"""Fast simulation of a bus monitor, run by run of operations and of bursts on its bus."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, byref, c_int, c_uint32, c_uint64, c_void_p, string_at
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.noncoherent.axi_monitor import Burst, BusCycle
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.packing import pack_tuples, record_at
from racetrap.sim.cosim.fast.simulation import Functions, Simulation
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware
from racetrap.sim.twins import record

_RECORD_WORDS = 4  # 64-bit words of a report

_BURST_DTYPE = np.dtype([
    ("address", "<u8"), ("id", "<u4"), ("length", "u1"), ("size", "u1"), ("burst", "u1"),
    ("is_write", "u1"),
])  # fmt: skip
_SEEN_DTYPE = np.dtype([
    ("cycle", "<u8"), ("read", _BURST_DTYPE), ("write", _BURST_DTYPE),
    ("read_id", "<u4"), ("write_id", "<u4"),
    *((name, "u1") for name in ("reads", "writes", "read_ends", "write_ends")), ("unused", "<u4"),
])  # fmt: skip
#: Declarations that bus_traffic.h shares with Python.
BUS_TWINS = (
    record(_BURST_DTYPE, "BusBurst"),
    record(_SEEN_DTYPE, "BusSeen", types={"read": "BusBurst", "write": "BusBurst"}),
)

#: Functions of shim.cpp besides those of every library.
_FUNCTIONS: Functions = {
    "sim_ring": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_bursts": (None, [c_void_p, c_void_p, c_uint64, c_uint64, c_uint32]),
    "sim_bus_seen": (c_uint64, [c_void_p, POINTER(c_void_p)]),
    "sim_run": (c_int, [c_void_p, c_void_p, c_uint64, c_uint64]),
}


class SimStats(NamedTuple):
    """Cycles since reset, a digest of all transfers with their cycles, and report writes
    answered with an error."""

    cycles: int
    digest: int
    write_errors: int


class BusPlay(NamedTuple):
    """Traffic of an observed bus.

    Parameters
    ----------
    bursts : sequence of (bool, Burst)
        Bursts, each a write or a read.
    together : int
        Reads, and writes, that are in flight at most.
    busy : int
        Percentage of cycles in which a side of a channel is ready; with 0 nothing ever moves.
    """

    bursts: Sequence[tuple[bool, Burst]] = ()
    together: int = 1
    busy: int = 100


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
        super().__init__(model, seed, _FUNCTIONS, timing or MemoryTiming(), SimStats, BUS_TWINS)
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

    def run(
        self, operations: Sequence[BusOperation], steps: int, bus: BusPlay | None = None
    ) -> None:
        """Play operations until all are taken, the expected steps have come, all bursts have ended
        and nothing is pending."""
        self._begin(bus or BusPlay())
        words = self._buffers["operations"] = pack_tuples(self._params.operation_layout, operations)
        failed = self._library.sim_run(self._sim, words.ctypes.data, len(operations), steps)
        self._must(not failed)
        self.software.wait_idle()

    def _begin(self, bus: BusPlay) -> None:
        bursts = self._buffers["bursts"] = np.array(
            [
                (each.address, each.id, each.length, each.size, each.burst, is_write)
                for is_write, each in bus.bursts
            ],
            _BURST_DTYPE,
        )
        self._library.sim_bursts(self._sim, bursts.ctypes.data, len(bursts), bus.together, bus.busy)

    def bus_cycles(self) -> list[tuple[int, BusCycle]]:
        """Cycles of the last run with a handshake on the bus that counts, with their number since
        reset."""
        address = c_void_p()
        count = self._library.sim_bus_seen(self._sim, byref(address))
        text = string_at(address.value or 0, count * _SEEN_DTYPE.itemsize) if count else b""
        return [
            (
                int(each["cycle"]),
                BusCycle(
                    _burst_of(each["read"]) if each["reads"] else None,
                    _burst_of(each["write"]) if each["writes"] else None,
                    int(each["read_id"]) if each["read_ends"] else None,
                    int(each["write_id"]) if each["write_ends"] else None,
                ),
            )
            for each in np.frombuffer(text, _SEEN_DTYPE)
        ]

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


def _burst_of(seen: np.void) -> Burst:
    return Burst(*(int(seen[name]) for name in ("id", "address", "length", "size", "burst")))
