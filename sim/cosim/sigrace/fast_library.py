"""The shared library of a SigRace system as Python sees it: its structures and functions."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_uint32, c_uint64, c_void_p
from dataclasses import astuple, dataclass

from racetrap.sim.cosim.fast.simulation import Functions

__all__ = ["FUNCTIONS", "SimStats", "Timing"]


@dataclass(frozen=True)
class Timing:
    """How cores behave in a run; the defaults are the fastest there is.

    Parameters
    ----------
    idle_percent : int
        Cycles, in percent, in which a context that offers nothing stays silent.
    trap_stall : int
        Cycles, in percent, in which no trap record is taken.
    watchdog : int
        Cycles without any transfer after which a run is given up.

    Raises
    ------
    ValueError
        If a value is out of range.
    """

    idle_percent: int = 0
    trap_stall: int = 0
    watchdog: int = 100_000

    def __post_init__(self) -> None:
        for name in ("idle_percent", "trap_stall"):
            if not 0 <= getattr(self, name) <= 99:
                raise ValueError(f"Timing {name} must be from 0 to 99, not {getattr(self, name)}")
        if self.watchdog < 1:
            raise ValueError(f"Timing watchdog must be at least 1, not {self.watchdog}")

    def structure(self) -> ctypes.Structure:
        """The same as the library takes it."""
        return _Knobs(*astuple(self))


class _Knobs(ctypes.Structure):
    # `Knobs` in shim.cpp.
    _fields_ = [(name, c_uint32) for name in Timing.__dataclass_fields__]


class SimStats(ctypes.Structure):
    """Figures of a simulation: `Stats` in shim.cpp.  Cycles count from reset."""

    _fields_ = [(name, c_uint64) for name in ("cycles", "accepted", "first_event", "last_event")]


_WORDS, _LONG_WORDS = POINTER(c_uint32), POINTER(c_uint64)
#: What shim.cpp has besides the functions of every library.
FUNCTIONS: Functions = {
    "sim_new": (c_void_p, [c_uint64]),
    "sim_knobs": (None, [c_void_p, POINTER(_Knobs)]),
    "sim_events": (None, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_remaps": (None, [c_void_p, c_void_p, c_uint64, c_uint32, c_uint32]),
    "sim_run": (c_int, [c_void_p, c_uint64, c_uint64]),
    "sim_stats": (None, [c_void_p, POINTER(SimStats)]),
    "sim_step_count": (c_uint64, [c_void_p, c_uint32]),
    "sim_steps": (_WORDS, [c_void_p, c_uint32]),
    "sim_trap_count": (c_uint64, [c_void_p, c_uint32]),
    "sim_traps": (_WORDS, [c_void_p, c_uint32]),
    "sim_rdm_count": (c_uint64, [c_void_p]),
    "sim_rdm_steps": (_WORDS, [c_void_p]),
    "sim_rdm_cycles": (_LONG_WORDS, [c_void_p]),
}
