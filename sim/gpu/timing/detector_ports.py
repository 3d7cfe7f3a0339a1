"""Cycle of a detector's ports, as the GPU around it sees them: what both sides offer and take.

A detector, in hardware or as a model of it, is a function of C that advances it by a cycle.  It
reads what the GPU offers and takes in that cycle, and writes what the detector offers and takes in
the same cycle.  Data of the metadata are the detector's own: the GPU decides only when they are
read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import Structure, c_uint8, c_uint32, c_uint64, c_void_p, cast
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from racetrap.sim.twins import Twin, structure


class SmCycle(Structure):
    """An SM's port: words of the transaction that is offered, or none; whether it is taken; the
    warps with a fence in flight."""

    _fields_ = (("transaction", c_void_p), ("fencing", c_uint64), ("is_taken", c_uint32))


class SliceCycle(Structure):
    """A metadata port, of AXI4, and the banks behind it.

    What is ``answered`` or taken is the GPU's, what is offered the detector's.  ``steps`` has a bit
    for each bank that makes a step, ``fences`` one for each further fence of the same step.
    """

    _fields_ = (
        ("read_address", c_uint64), ("write_address", c_uint64),
        ("read_id", c_uint32), ("answered_id", c_uint32),
        ("steps", c_uint32), ("fences", c_uint32),
        ("takes_read", c_uint8), ("answers_read", c_uint8),
        ("takes_address", c_uint8), ("takes_data", c_uint8), ("answers_write", c_uint8),
        ("offers_read", c_uint8), ("offers_address", c_uint8), ("offers_data", c_uint8),
    )  # fmt: skip


#: Declarations of the ports in C++, and of a cycle of the detector whose state is at the first
#: argument: 0 after an error.
PORT_TWINS = (
    structure(SmCycle, types={"transaction": "const uint32_t *"}), structure(SliceCycle),
    Twin("using CycleFunction = int (*)(void *, SmCycle *, SliceCycle *);\n", {}),
)  # fmt: skip


@dataclass(frozen=True)
class DetectorPorts:
    """A detector that is ready for a launch's first cycle.

    Parameters
    ----------
    cycle : ctypes function
        A ``CycleFunction``.
    state : int
        Address of its state.
    sms, slices : int
        Its ports.
    """

    cycle: Any
    state: int
    sms: int
    slices: int

    @property
    def address(self) -> int | None:
        """Address of the function."""
        return cast(self.cycle, c_void_p).value


@dataclass(frozen=True)
class DetectorInput:
    """What the SMs tell a detector of each event of a trace.

    Parameters
    ----------
    words : array of uint32
        Transactions, a row each.
    first : array of uint64
        Number of the first transaction of each event, and of all.
    """

    words: NDArray[np.uint32]
    first: NDArray[np.uint64]


@dataclass(frozen=True)
class TimedDetector:
    """A detector with cycles of its own, beside a GPU of the timing model.

    Parameters
    ----------
    ports : DetectorPorts
        Its ports.
    launch : callable
        Launches a kernel; nothing is in flight.
    told : DetectorInput
        All that it receives.
    segment_bytes : int
        Bytes of metadata that a port reads and writes as one.
    """

    ports: DetectorPorts
    launch: Callable[[], object]
    told: DetectorInput
    segment_bytes: int
