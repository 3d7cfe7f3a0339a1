"""The shared library of a ScoRD system as Python sees it: its structures and functions."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_uint32, c_uint64, c_void_p
from dataclasses import astuple, dataclass

from racetrap.sim.cosim.fast.simulation import Functions

__all__ = ["FUNCTIONS", "MAX_BANKS", "SimStats", "Timing"]

#: Banks that the library's statistics have room for: the most that ``ScordParams`` allows.
MAX_BANKS = 16


@dataclass(frozen=True)
class Timing:
    """How SMs and memories behave in a run; the defaults are the fastest there is.

    Parameters
    ----------
    idle_percent : int
        Cycles, in percent, in which an SM that offers nothing stays silent.
    latency : int
        Cycles from a memory request to its answer, at least 1.
    jitter : int
        Up to so many cycles more, drawn for each request.
    reorder : bool
        Answers to reads of different ids may overtake each other.
    back_pressure : int
        Cycles, in percent, in which a memory holds back a ready or a new answer.
    read_errors, write_errors : int
        Metadata reads and writes answered with an error, of 65536.
    watchdog : int
        Cycles without any transfer after which a run is given up.

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
    watchdog: int = 100_000

    def __post_init__(self) -> None:
        for name in ("idle_percent", "back_pressure"):
            if not 0 <= getattr(self, name) <= 99:
                raise ValueError(f"Timing {name} must be from 0 to 99, not {getattr(self, name)}")
        for name, low in (("latency", 1), ("jitter", 0), ("watchdog", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"Timing {name} must be at least {low}, not {getattr(self, name)}")

    def structure(self) -> ctypes.Structure:
        """The same as the library takes it."""
        return _Knobs(*map(int, astuple(self)))


class _Knobs(ctypes.Structure):
    # `Knobs` in axi_memory.h.
    _fields_ = [(name, c_uint32) for name in Timing.__dataclass_fields__]


class SimStats(ctypes.Structure):
    """Figures of a simulation: `Stats` in shim.cpp.

    Cycles count from reset; first and last cycles of steps are those since the run
    began, those of read data since reset.
    """

    _fields_ = [
        ("cycles", c_uint64),
        ("accepted", c_uint64),
        *((name, c_uint64 * MAX_BANKS) for name in ("steps", "first_step", "last_step")),
        *((name, c_uint64 * MAX_BANKS) for name in ("read_beats", "first_read", "last_read")),
        ("read_errors", c_uint64),
        ("write_errors", c_uint64),
    ]


#: What shim.cpp has besides the functions of every library.
FUNCTIONS: Functions = {
    "sim_new": (c_void_p, [c_uint64]),
    "sim_knobs": (None, [c_void_p, POINTER(_Knobs)]),
    "sim_metadata": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_ring": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_transactions": (None, [c_void_p, c_uint32, c_void_p, c_void_p, c_uint64]),
    "sim_trace": (POINTER(c_uint32), [c_void_p, c_uint32]),
    "sim_run": (c_int, [c_void_p, c_uint64]),
    "sim_stats": (None, [c_void_p, POINTER(SimStats)]),
}
