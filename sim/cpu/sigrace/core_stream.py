"""Events of the cores in a recorded program, compiled: what SigRace's core units take and show.

As playback, synchronisation library and core units of the golden model give them in environment
``fixed``, millions a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CDLL, POINTER, byref, c_uint32, c_uint64, c_void_p
from weakref import finalize

import numpy as np

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cpu.sigrace.settings import Filter, Settings, filters_of, settings_of

__all__ = ["EVENT_COLUMNS", "STEP_COLUMNS", "STREAM_FUNCTIONS", "CoreStream"]

#: An event and the state of its unit after it.
_STEP_DTYPE = np.dtype([
    ("data", "<u4"), ("pc", "<u4"), ("own", "<u4"), ("index", "<u2"), ("instructions", "<u2"),
    ("counter", "<u2"), ("read_values", "<u2"), ("write_values", "<u2"), ("op", "u1"),
    ("size", "u1"), ("collecting", "u1"), ("thread", "u1"), ("sent", "u1"), ("cause", "u1"),
    ("traps", "u1"), ("saturated", "u1"), ("padding", "<u2"),
])  # fmt: skip
#: Columns of an event and of a step, in the order of their layouts.
EVENT_COLUMNS = CoreEvent._fields
STEP_COLUMNS = (*EVENT_COLUMNS, *CoreStep._fields[1:])
#: Functions of the library.
STREAM_FUNCTIONS: Functions = {
    "racetrap_stream_new": (c_void_p, [POINTER(Settings), POINTER(Filter), c_uint32]),
    "racetrap_stream_delete": (None, [c_void_p]),
    "racetrap_stream_take": (None, [c_void_p, c_void_p, c_uint64]),
    "racetrap_stream_steps": (c_uint64, [c_void_p, c_uint32, c_void_p]),
    "racetrap_stream_blocks": (c_uint64, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint64]),
}


class CoreStream:
    """Core units of a program, each with a thread of its own.

    Before the first event of the program each unit takes those that begin it.

    Parameters
    ----------
    library : CDLL
        The compiled machine.
    params : SigraceParams
        The machine.
    threads : int
        Threads of the program; the machine must have a context for each.
    """

    def __init__(self, library: CDLL, params: SigraceParams, threads: int) -> None:
        self._library, self._params = library, params
        self._slots = Environment().slots(params)[:threads]
        self._sequences = [0] * threads
        settings = settings_of(Sigrace(params))
        self._stream = library.racetrap_stream_new(byref(settings), filters_of(params), threads)
        finalize(self, library.racetrap_stream_delete, self._stream)

    def take(self, events: np.ndarray) -> None:
        """Take the next events of the program: records of ``THREAD_DTYPE`` in one piece."""
        self._library.racetrap_stream_take(self._stream, events.ctypes.data, len(events))

    def steps(self, thread: int) -> np.ndarray:
        """Events of the unit of a thread in the latest :meth:`take`, by ``STEP_COLUMNS``."""
        count = self._library.racetrap_stream_steps(self._stream, thread, None)
        steps = np.empty(count, _STEP_DTYPE)
        self._library.racetrap_stream_steps(self._stream, thread, steps.ctypes.data)
        steps["pc"] &= (1 << self._params.pc_bits) - 1
        return steps

    def blocks(self) -> Iterator[FinishedBlock]:
        """Blocks that the units have sent, with signatures, in the order of the program."""
        params = self._params
        count = self._library.racetrap_stream_blocks(self._stream, None, None, None, 0)
        numbers = np.zeros((count, 2), np.uint32)
        stamps = np.zeros((count, params.threads), np.uint32)
        signatures = np.zeros((count, 2, -(-params.signature_bits // 64)), np.uint64)
        self._library.racetrap_stream_blocks(
            self._stream, numbers.ctypes.data, stamps.ctypes.data, signatures.ctypes.data, count
        )
        for (thread, cause), stamp, both in zip(
            numbers.tolist(), stamps.tolist(), signatures, strict=True
        ):
            sequence = self._sequences[thread]
            self._sequences[thread] = sequence + 1 & (1 << params.sequence_bits) - 1
            read, write = (int.from_bytes(each.tobytes(), "little") for each in both)
            core, context = self._slots[thread]
            yield FinishedBlock(core, context, thread, sequence, cause, tuple(stamp), read, write)
