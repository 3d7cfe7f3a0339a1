"""Events of the cores in a recorded program, compiled: what SigRace's hardware takes and shows.

As playback, synchronisation library, core units and RDM of the golden model give them in
environment ``fixed``, millions a second.
"""

from __future__ import annotations

from ctypes import CDLL, POINTER, byref, c_int64, c_uint32, c_uint64, c_void_p
from weakref import finalize

import numpy as np

from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, LogEntry, RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cpu.sigrace.settings import Filter, Settings, filters_of, settings_of

__all__ = ["EVENT_COLUMNS", "STEP_COLUMNS", "STREAM_FUNCTIONS", "CoreStream"]

#: Counters in the order of the library, by register name in lower case; then the reasons.
_COUNTERS = (
    "messages", "comparisons", "intersections", "hits", "conflicts", "log_dropped", "lost_windows",
    "reasons",
)  # fmt: skip
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
    """Core units of a program, each with a thread of its own, and the RDM.

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
        self._slots = np.array(Environment().slots(params)[:threads], np.uint32)
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
        numbers = np.zeros((count, 3), np.uint32)
        stamps = np.zeros((count, 2, params.threads), np.uint32)
        signatures = np.zeros((count, -(-params.signature_bits // 64)), np.uint64)
        places = (array.ctypes.data for array in (numbers, stamps, signatures))
        copy(self._stream, *places, count)
        return [
            LogEntry(
                thread, other, conflict, tuple(own), tuple(others),
                int.from_bytes(signature.tobytes(), "little"),
            )
            for (thread, other, conflict), (own, others), signature in zip(
                numbers.tolist(), stamps.tolist(), signatures, strict=True
            )
        ]  # fmt: skip

    def counters(self) -> dict[str, int]:
        """Counters of the RDM, by register name in lower case, and ``reasons`` of a rollback."""
        found = np.zeros(len(_COUNTERS), np.uint64)
        self._library.racetrap_stream_counters(self._stream, found.ctypes.data)
        return dict(zip(_COUNTERS, found.tolist(), strict=True))
