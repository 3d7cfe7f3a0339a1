"""SigRace compiled, for long traces: the same results as the golden model, which it is proved by.

Core units, synchronisation library, scheduler and RDM are C++; Re-execution and Analysis of
logged conflicts are the golden model's own.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    byref,
    c_bool,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import cache
from pathlib import Path
from random import Random
from shutil import which
from typing import Any

import numpy as np

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import SigraceResult, SigraceStatistics
from racetrap.golden_model.sigrace.rollback import Rollback
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cpu.sigrace.compiled_epochs import EPOCH_FUNCTIONS, CompiledEpochs
from racetrap.sim.cpu.sigrace.core_stream import STREAM_FUNCTIONS
from racetrap.sim.cpu.sigrace.log_entries import log_entries
from racetrap.sim.cpu.sigrace.settings import Filter, Settings, filters_of, settings_of

__all__ = ["prepare_sigrace", "run_sigrace"]

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
#: Events, or steps of the scheduler, played in one call: signals are looked at in between.
_SHARE = 1 << 22
#: Why conflicts are handled, by the number that the library gives.
_REASONS = ("full", "blocks", "sync", "checkpoint", "end")
_STATISTICS = ("blocks", "message_bytes", "checkpoints", "conflicts_ignored")
_COUNTERS = (
    "messages", "comparisons", "intersections", "hits", "conflicts", "log_dropped",
)  # fmt: skip

_Handle = CFUNCTYPE(c_uint32, c_uint32)
_Draw = CFUNCTYPE(c_uint64, c_uint64, c_uint64)


_FUNCTIONS: Functions = {
    "racetrap_sigrace_new": (c_void_p, [POINTER(Settings), POINTER(Filter), _Handle]),
    "racetrap_sigrace_delete": (None, [c_void_p]),
    "racetrap_sigrace_last_epoch": (c_uint64, [c_void_p, c_uint64, c_uint32]),
    "racetrap_sigrace_begin_fixed": (None, [c_void_p, c_uint32]),
    "racetrap_sigrace_begin_scheduled": (None, [c_void_p, c_void_p, c_uint64, _Draw]),
    "racetrap_sigrace_run_fixed": (c_bool, [c_void_p, c_void_p, c_uint64, c_uint64]),
    "racetrap_sigrace_run_scheduled": (c_bool, [c_void_p, c_uint64]),
    "racetrap_sigrace_end": (c_bool, [c_void_p]),
    "racetrap_sigrace_log": (c_uint64, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint64]),
    "racetrap_sigrace_checkpoint": (c_uint64, [c_void_p, c_void_p, c_void_p]),
    "racetrap_sigrace_stamps": (c_uint64, [c_void_p, c_uint32, POINTER(POINTER(c_uint32))]),
    "racetrap_sigrace_statistics": (None, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "racetrap_sigrace_members": (c_uint64, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    **EPOCH_FUNCTIONS,
    **STREAM_FUNCTIONS,
}


@cache
def prepare_sigrace() -> CDLL:
    """The compiled machine; compiled and loaded by the first call."""
    shared = [_FOLDER.parent / name for name in ("sync_objects.h", "thread_events.h")]
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h"), *shared])
    return compiled_library("sigrace", sources, _OPTIONS, _FUNCTIONS)


def run_sigrace(sigrace: Sigrace, trace: ThreadTrace) -> SigraceResult:
    """Races of a recorded program, as ``sigrace.run`` gives them.

    Where there is no compiler, the golden model itself runs.

    Parameters
    ----------
    sigrace : Sigrace
        The machine.
    trace : ThreadTrace
        The program.

    Raises
    ------
    ValueError
        As of ``sigrace.run``.
    Failure
        If the library cannot be compiled.
    """
    if not which("g++"):
        return sigrace.run(trace)
    sigrace.check_program(trace)
    machine = _Machine(sigrace, trace)
    try:
        machine.run()
        return machine.result()
    finally:
        machine.close()


class _Machine:
    """The compiled hardware in Normal mode, and the golden model's software."""

    def __init__(self, sigrace: Sigrace, trace: ThreadTrace) -> None:
        self._library = prepare_sigrace()
        self._sigrace, self._trace = sigrace, trace
        self._events = np.ascontiguousarray(trace.events, THREAD_DTYPE)
        params = sigrace.params
        params.check_epochs(
            self._library.racetrap_sigrace_last_epoch(
                self._events.ctypes.data, len(trace), trace.header.threads
            )
        )
        self._statistics = SigraceStatistics()
        self._rollback: Rollback | None = None
        self._error: BaseException | None = None
        random = Random(sigrace.environment.seed)
        # What C++ calls must live as long as the machine.
        self._handle, self._draw = _Handle(self._handle_conflicts), _Draw(random.randint)
        self._machine = self._library.racetrap_sigrace_new(
            byref(settings_of(sigrace)), filters_of(params), self._handle
        )
        self._checkpoint = _Checkpoint(self._library, self._machine, params.threads)

    def close(self) -> None:
        """Free the library's memory."""
        self._library.racetrap_sigrace_delete(self._machine)

    def run(self) -> None:
        """Run the whole program."""
        library, machine, count = self._library, self._machine, len(self._events)
        data = self._events.ctypes.data
        if self._sigrace.environment.name == "fixed":
            library.racetrap_sigrace_begin_fixed(machine, self._trace.header.threads)
            for first in range(0, count, _SHARE):
                share = min(_SHARE, count - first)
                if not library.racetrap_sigrace_run_fixed(machine, data, first, share):
                    break
        else:
            library.racetrap_sigrace_begin_scheduled(machine, data, count, self._draw)
            while library.racetrap_sigrace_run_scheduled(machine, _SHARE):
                pass
        library.racetrap_sigrace_end(machine)
        if self._error is not None:
            raise self._error

    def result(self) -> SigraceResult:
        """What has been found."""
        threads, statistics = self._sigrace.params.threads, self._statistics
        counts = np.zeros(len(_STATISTICS), np.uint64)
        counters = np.zeros(len(_COUNTERS), np.uint64)
        lost = np.zeros((threads, threads), np.uint64)
        self._library.racetrap_sigrace_statistics(
            self._machine, counts.ctypes.data, counters.ctypes.data, lost.ctypes.data
        )
        for name, value in zip(_STATISTICS, counts.tolist(), strict=True):
            setattr(statistics, name, value)
        found = dict(zip(_COUNTERS, counters.tolist(), strict=True))
        statistics.instructions = self._checkpoint.total
        for name in ("messages", "comparisons", "intersections", "hits"):
            setattr(statistics, name, found[name])
        statistics.conflicts_dropped = found["log_dropped"]
        statistics.lost = {
            (thread, other): int(lost[thread, other])
            for thread, other in np.argwhere(lost).tolist()
        }
        if self._rollback is None:
            return SigraceResult([], [], found["conflicts"], 0, statistics)
        return SigraceResult(
            sorted(self._rollback.races),
            sorted(self._rollback.false_sharing - self._rollback.races),
            found["conflicts"],
            self._rollback.false_positives,
            statistics,
        )

    def _handle_conflicts(self, reason: int) -> int:
        """Roll back for the logged conflicts; an exception stops the machine."""
        if self._error is not None:
            return 1
        try:
            if self._rollback is None:
                self._rollback = self._first_rollback()
            self._rollback.handle(self._log(), _REASONS[reason])
        except BaseException as error:  # not even an interrupt passes through C++
            self._error = error
            return 1
        return 0

    def _first_rollback(self) -> Rollback:
        params = self._sigrace.params
        unit = CoreUnit(params)
        index = CompiledEpochs(self._library, self._events, self._trace.header.threads)
        return _Rollback(
            params, index, self._checkpoint, self._statistics, lambda: unit, self._members
        )

    def _members(self, granules: np.ndarray, signature: int) -> set[int]:
        words = -(-self._sigrace.params.signature_bits // 64)
        packed = np.frombuffer(signature.to_bytes(8 * words, "little"), np.uint64)
        members = np.empty_like(granules)
        count = self._library.racetrap_sigrace_members(
            self._machine, packed.ctypes.data, granules.ctypes.data, len(granules),
            members.ctypes.data,
        )  # fmt: skip
        return set(members[:count].tolist())

    def _log(self) -> list[LogEntry]:
        """The conflict log, without conflicts that need no second look."""
        copy = self._library.racetrap_sigrace_log
        return log_entries(copy, self._machine, self._sigrace.params)


class _Rollback(Rollback):
    """Rollback whose members of signatures are found by the library."""

    def __init__(
        self,
        params: SigraceParams,
        index: CompiledEpochs,
        checkpoint: _Checkpoint,
        statistics: SigraceStatistics,
        analysis_unit: Callable[[], CoreUnit],
        members: Callable[[np.ndarray, int], set[int]],
    ) -> None:
        super().__init__(params, index, checkpoint, statistics, analysis_unit)
        self._epochs, self._find_members = index, members

    def members(self, thread: int, first: int, last: int, signature: int) -> set[int]:
        return self._find_members(self._epochs.granule_array(thread, first, last), signature)


class _Checkpoint:
    """State of the machine's last checkpoint; as ``Checkpoint``, whenever it is asked.

    Parameters
    ----------
    library : CDLL
        The compiled machine.
    machine : int
        Its handle.
    threads : int
        Counters of a timestamp.
    """

    def __init__(self, library: CDLL, machine: int, threads: int) -> None:
        self._library, self._machine, self._threads = library, machine, threads

    @property
    def total(self) -> int:
        """Instructions that all threads have committed since the start of the program."""
        return self._read()[0]

    @property
    def progress(self) -> list[int]:
        """Number of each thread's last event before the checkpoint, -1 for none."""
        return self._read()[1]

    @property
    def epochs(self) -> list[int]:
        """Each thread's own counter at the checkpoint."""
        return self._read()[2]

    @property
    def log(self) -> list[Any]:
        """TS log of each thread: views of the machine's memory, until it goes on."""
        return [self._stamps(thread) for thread in range(self._threads)]

    def _read(self) -> tuple[int, list[int], list[int]]:
        state = np.zeros((2, self._threads), np.int64)
        total = self._library.racetrap_sigrace_checkpoint(
            self._machine, state[0].ctypes.data, state[1].ctypes.data
        )
        return total, *state.tolist()

    def _stamps(self, thread: int) -> np.ndarray:
        stamps = POINTER(c_uint32)()
        length = self._library.racetrap_sigrace_stamps(self._machine, thread, byref(stamps))
        if not length:
            return np.zeros((0, self._threads), np.uint32)
        return np.ctypeslib.as_array(stamps, (length // self._threads, self._threads))
