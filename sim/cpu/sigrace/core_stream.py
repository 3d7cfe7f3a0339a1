"""Compiled core events of a recorded program: inputs and steps of SigRace's hardware.

They equal those of the golden model's playback, synchronisation library, core units and RDM in
environment ``fixed``, at millions a second.
"""

from __future__ import annotations

from ctypes import CDLL, POINTER, byref, c_int64, c_uint32, c_uint64, c_void_p
from weakref import finalize

import numpy as np

from racetrap.golden_model.sigrace.conflict_log import Reason
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.packets import (
    Cause,
    Conflict,
    CoreEvent,
    CoreOp,
    CoreStep,
    LogEntry,
    RdmStepKind,
    Relation,
)
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cpu.sigrace.settings import Filter, Settings, filters_of, settings_of
from racetrap.sim.twins import enumeration, numbers, record

#: Counters of the RDM, by register name in lower case.
RDM_COUNTERS = (
    "messages", "comparisons", "intersections", "hits", "conflicts", "log_dropped",
)  # fmt: skip
_COUNTERS_DTYPE = np.dtype([(name, "<u8") for name in RDM_COUNTERS])
#: The same with windows lost, and reasons of a rollback.
_STREAM_COUNTERS_DTYPE = np.dtype([
    ("counters", _COUNTERS_DTYPE), ("lost_windows", "<u8"), ("reasons", "<u8"),
])  # fmt: skip
_LOGGED = ("thread", "other", "conflict")
#: A comparison of a message with an entry, or its end.
_RDM_DTYPE = np.dtype([
    ("lost", "<u8"), ("thread", "<u4"), ("sequence", "<u4"), ("digest", "<u4"), ("other", "<u2"),
    ("position", "<u2"), ("is_push", "u1"), ("cause", "u1"), ("relation", "u1"),
    ("conflict", "u1"), ("padding", "<u4"),
])  # fmt: skip

#: An event and the state of its unit after it.
_STEP_DTYPE = np.dtype([
    ("data", "<u4"), ("pc", "<u4"), ("own", "<u4"), ("index", "<u2"), ("instructions", "<u2"),
    ("counter", "<u2"), ("read_values", "<u2"), ("write_values", "<u2"), ("op", "u1"),
    ("size", "u1"), ("collecting", "u1"), ("thread", "u1"), ("sent", "u1"), ("cause", "u1"),
    ("traps", "u1"), ("saturated", "u1"), ("padding", "<u2"),
])  # fmt: skip
#: Declarations that both libraries' parts share with Python.
STREAM_TWINS = (
    enumeration(CoreOp, bits=8, prefix="OP_"),
    enumeration(Cause),
    enumeration(Relation, bits=8),
    enumeration(Conflict, renamed={"NONE": "NO_CONFLICT"}),
    enumeration(Reason, renamed={"FULL": "LOG_FULL", "SYNC": "SYNC_REACHED"}),
    record(_STEP_DTYPE, "Step"),
    record(_RDM_DTYPE, "RdmStep"),
    record(_COUNTERS_DTYPE, "Counters"),
    record(_STREAM_COUNTERS_DTYPE, "StreamCounters", types={"counters": "Counters"}),
    numbers("LoggedConflict", _LOGGED, bits=32),
)
#: Columns of an event and of a step, in the order of their layouts.
EVENT_COLUMNS = CoreEvent._fields
STEP_COLUMNS = (*EVENT_COLUMNS, *CoreStep._fields[1:])
#: Functions of the library.
STREAM_FUNCTIONS: Functions = {
    "racetrap_stream_new": (c_void_p, [POINTER(Settings), POINTER(Filter), c_uint32]),
    "racetrap_stream_delete": (None, [c_void_p]),
    "racetrap_stream_take": (None, [c_void_p, c_void_p, c_uint64]),
    "racetrap_stream_steps": (c_uint64, [c_void_p, c_uint32, c_void_p]),
    "racetrap_stream_messages": (c_uint64, [c_void_p]),
    "racetrap_stream_take_messages": (c_int64, [c_void_p, c_void_p, c_uint64]),
    "racetrap_stream_rdm_steps": (None, [c_void_p, c_void_p]),
    "racetrap_stream_flush": (None, [c_void_p]),
    "racetrap_stream_clear_log": (None, [c_void_p]),
    "racetrap_stream_counters": (None, [c_void_p, c_void_p]),
    "racetrap_stream_log": (c_uint64, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint64]),
}


class CoreStream:
    """Core units of a program, each with its own thread, and the RDM.

    Before the first event of the program each unit takes its initial events.

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
        self._slots = np.array(Environment().slots(params)[:threads], np.uint32)
        settings = settings_of(Sigrace(params))
        self._stream = library.racetrap_stream_new(byref(settings), filters_of(params), threads)
        finalize(self, library.racetrap_stream_delete, self._stream)

    def take(self, events: np.ndarray) -> None:
        """Take the next events of the program: contiguous records of ``THREAD_DTYPE``."""
        self._library.racetrap_stream_take(self._stream, events.ctypes.data, len(events))

    def steps(self, thread: int) -> np.ndarray:
        """Events of the unit of a thread in the latest :meth:`take`, by ``STEP_COLUMNS``."""
        count = self._library.racetrap_stream_steps(self._stream, thread, None)
        steps = np.empty(count, _STEP_DTYPE)
        self._library.racetrap_stream_steps(self._stream, thread, steps.ctypes.data)
        steps["pc"] &= (1 << self._params.pc_bits) - 1
        return steps

    @property
    def messages(self) -> int:
        """Messages of the units that the RDM has not taken."""
        count: int = self._library.racetrap_stream_messages(self._stream)
        return count

    def take_messages(self, threads: np.ndarray) -> list[np.ndarray]:
        """Let the RDM take the next message of each of some threads, in that order.

        Returns
        -------
        list of numpy.ndarray
            Columns of its steps, in the order of their layout.

        Raises
        ------
        ValueError
            If one of the messages was never sent.
        """
        order = threads.astype(np.uint32)
        count = self._library.racetrap_stream_take_messages(
            self._stream, order.ctypes.data, len(order)
        )
        if count < 0:
            raise ValueError("Messages must be of threads that have sent them")
        steps = np.empty(count, _RDM_DTYPE)
        self._library.racetrap_stream_rdm_steps(self._stream, steps.ctypes.data)
        place = self._slots[steps["thread"]]
        kind = np.where(steps["is_push"], int(RdmStepKind.PUSH), int(RdmStepKind.COMPARE))
        sequence = steps["sequence"] & ((1 << self._params.sequence_bits) - 1)
        return [
            kind, place[:, 0], place[:, 1], steps["thread"], sequence, steps["cause"],
            *(steps[name] for name in ("other", "position", "relation", "conflict")),
            np.zeros(count, np.uint8), steps["lost"], steps["digest"],
        ]  # fmt: skip

    def flush(self) -> None:
        """Empty the RDM's queues."""
        self._library.racetrap_stream_flush(self._stream)

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self._library.racetrap_stream_clear_log(self._stream)

    def log(self) -> list[LogEntry]:
        """The conflict log, oldest first."""
        params, copy = self._params, self._library.racetrap_stream_log
        count = copy(self._stream, None, None, None, 0)
        conflicts = np.zeros((count, len(_LOGGED)), np.uint32)
        stamps = np.zeros((count, 2, params.threads), np.uint32)
        signatures = np.zeros((count, -(-params.signature_bits // 64)), np.uint64)
        places = (array.ctypes.data for array in (conflicts, stamps, signatures))
        copy(self._stream, *places, count)
        return [
            LogEntry(
                thread, other, conflict, tuple(own), tuple(others),
                int.from_bytes(signature.tobytes(), "little"),
            )
            for (thread, other, conflict), (own, others), signature in zip(
                conflicts.tolist(), stamps.tolist(), signatures, strict=True
            )
        ]  # fmt: skip

    def counters(self) -> dict[str, int]:
        """Counters of the RDM, by register name in lower case, and ``reasons`` of a rollback."""
        found = np.zeros(1, _STREAM_COUNTERS_DTYPE)
        self._library.racetrap_stream_counters(self._stream, found.ctypes.data)
        counters, lost_windows, reasons = found[0].item()
        own = dict(zip(RDM_COUNTERS, counters, strict=True))
        return {**own, "lost_windows": lost_windows, "reasons": reasons}
