"""Two detectors with the same GPU around them, cycle for cycle, until one does something else.

What is compared is all that a GPU sees of a detector: which transactions are taken, fences in
flight, reads and writes of metadata; and in which cycle each bank makes a step.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_int, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.gpu.timing.detector_ports import PORT_TWINS, DetectorPorts
from racetrap.sim.twins import numbers, positions, structure

_SOURCE = Path(__file__).with_name("lockstep.cpp")
_OPTIONS = ("-std=c++20", "-O2")
#: What is compared, and how an error names it: of a metadata port, and of an SM.
_OF_PORT = {
    "steps": "banks that make a step", "fences": "fences of the step",
    "offers_read": "read offered", "read_id": "id of the read",
    "read_address": "address of the read", "offers_address": "address of a write offered",
    "write_address": "address of the write", "offers_data": "data of a write offered",
}  # fmt: skip
_OF_SM = {"fencing": "warps with a fence", "is_taken": "transaction taken"}
_SIGNALS = (*_OF_PORT, *_OF_SM)
_ENVIRONMENT = (
    "seed", "idle_percent", "latency", "jitter", "reorder", "back_pressure", "sms", "slices",
    "transaction_words", "quiet", "most",
)  # fmt: skip
_RESULT = (
    "cycles", "steps", "reads", "writes", "waits", "differs", "signal", "place", "one", "other",
)  # fmt: skip
#: Cycles without any sign of life after which all is done: more than a transaction is on its way.
_QUIET = 300


class _Queue(ctypes.Structure):
    """Transactions of an SM."""

    _fields_ = (("words", c_void_p), ("count", c_uint64))


_TWINS = (
    *PORT_TWINS,
    structure(_Queue, types={"words": "const uint32_t *"}),
    positions("Signal", _SIGNALS),
    numbers("Environment", _ENVIRONMENT),
    numbers("Result", _RESULT),
)
_FUNCTIONS: Functions = {
    "racetrap_lockstep_run": (
        c_int, [c_void_p, POINTER(_Queue), *[c_void_p] * 5],
    ),
}  # fmt: skip


@dataclass(frozen=True)
class LockstepCounts:
    """What two detectors have done alike.

    Parameters
    ----------
    cycles, steps : int
        Cycles compared, and the banks' steps in them.
    reads, writes : int
        Segments of metadata read and written.
    waits : int
        Cycles in which a transaction waited, over all SMs.
    """

    cycles: int
    steps: int
    reads: int
    writes: int
    waits: int


def run_lockstep(
    one: DetectorPorts, other: DetectorPorts, queues: Sequence[NDArray[np.uint32]], *,
    timing: MemoryTiming, seed: int = 0, most: int = 1 << 24,
) -> LockstepCounts:  # fmt: skip
    """Play transactions to two detectors until both have nothing left to do.

    Parameters
    ----------
    one, other : DetectorPorts
        The detectors, with the same ports, in a state after a launch.
    queues : sequence of array of uint32
        Transactions of each SM, a row each.
    timing : MemoryTiming
        Timing of SMs and memory, without errors.
    seed : int
        Seed of all that is random in it.
    most : int
        Cycles after which they must be done.

    Raises
    ------
    Mismatch
        If one does something else than the other; names the cycle, the place and both values.
    RuntimeError
        If they do not come to an end.
    """
    widths = [words.shape[1] for words in queues]
    environment = np.array(
        [seed, timing.idle_percent, timing.latency, timing.jitter, timing.reorder,
         timing.back_pressure, one.sms, one.slices, widths[0], _QUIET, most], np.uint64,
    )  # fmt: skip
    rows = [np.ascontiguousarray(words) for words in queues]
    of_sms = (_Queue * one.sms)(*(_Queue(words.ctypes.data, len(words)) for words in rows))
    result = np.zeros(len(_RESULT), np.uint64)
    ends = _library().racetrap_lockstep_run(
        environment.ctypes.data, of_sms, one.address, one.state, other.address, other.state,
        result.ctypes.data,
    )  # fmt: skip
    found = dict(zip(_RESULT, result.tolist(), strict=True))
    if found["differs"]:
        raise Mismatch(_sentence(found))
    if not ends:
        raise RuntimeError(f"Detectors must be done within {most} cycles, not wait for ever")
    return LockstepCounts(*(found[name] for name in LockstepCounts.__dataclass_fields__))


def _sentence(found: dict[str, int]) -> str:
    name = _SIGNALS[found["signal"]]
    place = "Metadata port" if name in _OF_PORT else "SM"
    what = {**_OF_PORT, **_OF_SM}[name]
    return (
        f"{place} {found['place']}, cycle {found['cycles']}, after {found['steps']} steps: {what} "
        f"must be {found['one']:#x}, not {found['other']:#x}"
    )


@cache
def _library() -> ctypes.CDLL:
    """The shared library, compiled once."""
    return compiled_library("lockstep", [_SOURCE], _OPTIONS, _FUNCTIONS, _TWINS)
