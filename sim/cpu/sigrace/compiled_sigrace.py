"""Compiled SigRace for long traces, with the results of the golden model, which is its
specification."""

from __future__ import annotations

from ctypes import CDLL, CFUNCTYPE, POINTER, byref, c_bool, c_double, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from shutil import which

import numpy as np

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.result import FirstRace, SigraceResult, SigraceStatistics
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cpu.sigrace.core_stream import RDM_COUNTERS, STREAM_FUNCTIONS, STREAM_TWINS
from racetrap.sim.cpu.sigrace.settings import (
    SETTINGS_TWINS,
    Filter,
    Settings,
    filters_of,
    settings_of,
)
from racetrap.sim.cpu.thread_twins import THREAD_TWINS
from racetrap.sim.twins import numbers, positions, record

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
#: Events, or steps of the scheduler, played in one call: signals are handled in between.
_SHARE = 1 << 16
#: Reason for handling conflicts, by the library's number.
_REASONS = ("full", "blocks", "sync", "checkpoint", "end")
_STATISTICS = (
    "blocks", "message_bytes", "checkpoints", "conflicts_ignored", "conflicts_dismissed",
    "conflicts_unheld", "ring_reads", "ring_writes",
)  # fmt: skip
#: If there is a race, the last three belong to the first.
_COSTS = (
    "passes", "reexecuted", "analysed", "repeated_for_nothing", "false_positives", "has_race",
    "first_committed", "first_repeated", "first_repeated_for_nothing",
)  # fmt: skip
_INTERSECTIONS = ("false_pairs", "false_intersections", "true_pairs", "true_intersections")
_PARTY_DTYPE = np.dtype([("thread", "<u4"), ("epoch", "<u4"), ("pc", "<u4"), ("is_write", "<u4")])
_RACE_DTYPE = np.dtype([("address", "<u8"), ("first", _PARTY_DTYPE), ("second", _PARTY_DTYPE)])

_Draw = CFUNCTYPE(c_uint64, c_uint64, c_uint64)
_TWINS = (
    *THREAD_TWINS,
    *SETTINGS_TWINS,
    *STREAM_TWINS,
    positions("Handling", _REASONS, prefix="at_"),
    numbers("Statistics", _STATISTICS),
    numbers("Costs", _COSTS),
    numbers("Intersections", _INTERSECTIONS),
    numbers("RollbackCount", ("reason", "times")),
    record(_PARTY_DTYPE, "Party", is_ordered=True),
    record(_RACE_DTYPE, "Race", types={"first": "Party", "second": "Party"}, is_ordered=True),
)

_FUNCTIONS: Functions = {
    "racetrap_sigrace_new": (c_void_p, [POINTER(Settings), POINTER(Filter), c_void_p, c_uint64]),
    "racetrap_sigrace_delete": (None, [c_void_p]),
    "racetrap_sigrace_last_epoch": (c_uint64, [c_void_p, c_uint64, c_uint32]),
    "racetrap_sigrace_begin_fixed": (None, [c_void_p, c_uint32]),
    "racetrap_sigrace_begin_scheduled": (None, [c_void_p, _Draw]),
    "racetrap_sigrace_run_fixed": (None, [c_void_p, c_uint64, c_uint64]),
    "racetrap_sigrace_run_scheduled": (c_bool, [c_void_p, c_uint64]),
    "racetrap_sigrace_end": (None, [c_void_p]),
    "racetrap_sigrace_statistics": (c_uint64, [c_void_p] * 5),
    "racetrap_sigrace_measures": (c_double, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "racetrap_sigrace_rollbacks": (c_uint64, [c_void_p, c_void_p]),
    "racetrap_sigrace_races": (c_uint64, [c_void_p, c_bool, POINTER(c_void_p)]),
    **STREAM_FUNCTIONS,
}


@dataclass(frozen=True)
class Measures:
    """Blocks of a run, and the searches and intersections of the RDM, for figures of the paper.

    Parameters
    ----------
    statistics : SigraceStatistics
        Counts; there are no rollbacks.
    false_pairs, false_intersections : int
        Pairs with a false intersection and no true one; intersections that are not null though
        the sets are disjoint.
    true_pairs, true_intersections : int
        Those with common addresses.
    lost_windows : float
        Sum, over the searches that went through a full queue without finding a predecessor, of
        the share of the checkpoint interval that lies before the oldest entry.
    message_bytes : ndarray of uint32, one for each message
        Its bytes.
    """

    statistics: SigraceStatistics
    false_pairs: int
    false_intersections: int
    true_pairs: int
    true_intersections: int
    lost_windows: float
    message_bytes: np.ndarray


@cache
def prepare_sigrace() -> CDLL:
    """The compiled machine, compiled and loaded on the first call."""
    shared = [_FOLDER.parent / name for name in ("sync_objects.h", "thread_events.h")]
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h"), *shared])
    return compiled_library("sigrace", sources, _OPTIONS, _FUNCTIONS, _TWINS)


def run_sigrace(sigrace: Sigrace, trace: ThreadTrace) -> SigraceResult:
    """Races of a recorded program, as ``sigrace.run`` gives them.

    Without a compiler, the golden model itself runs.

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
    machine = _Machine(sigrace, trace, settings_of(sigrace))
    try:
        machine.run()
        with garbage_collection_paused():
            return machine.result()
    finally:
        machine.close()


def measure_sigrace(sigrace: Sigrace, trace: ThreadTrace, sync_only: bool = False) -> Measures:
    """Measures of a recorded program; no conflict is analysed.

    Parameters
    ----------
    sigrace : Sigrace
        The machine; its conflict log is not used.
    trace : ThreadTrace
        The program.
    sync_only : bool
        Whether blocks end only at synchronisations (and at checkpoints), not by their size.

    Raises
    ------
    ValueError
        As of ``sigrace.run``.
    Failure
        If the library cannot be compiled.
    """
    sigrace.check_program(trace)
    settings = settings_of(sigrace)
    settings.is_measured = True
    settings.log_depth = 0
    if sync_only:
        settings.block_instructions = -1
    machine = _Machine(sigrace, trace, settings)
    try:
        machine.run()
        return machine.measures()
    finally:
        machine.close()


class _Machine:
    """The compiled hardware and its software."""

    def __init__(self, sigrace: Sigrace, trace: ThreadTrace, settings: Settings) -> None:
        self._library = prepare_sigrace()
        self._sigrace, self._trace = sigrace, trace
        # Objects used by C++ must live as long as the machine.
        self._events = np.ascontiguousarray(trace.events, THREAD_DTYPE)
        self._draw = _Draw(Random(sigrace.environment.seed).randint)
        params, data, count = sigrace.params, self._events.ctypes.data, len(trace)
        params.check_epochs(
            self._library.racetrap_sigrace_last_epoch(data, count, trace.header.threads)
        )
        self._machine = self._library.racetrap_sigrace_new(
            byref(settings), filters_of(params), data, count
        )

    def close(self) -> None:
        """Free the library's memory."""
        self._library.racetrap_sigrace_delete(self._machine)

    def run(self) -> None:
        """Run the whole program."""
        library, machine, count = self._library, self._machine, len(self._events)
        if self._sigrace.environment.name == "fixed":
            library.racetrap_sigrace_begin_fixed(machine, self._trace.header.threads)
            for first in range(0, count, _SHARE):
                library.racetrap_sigrace_run_fixed(machine, first, min(_SHARE, count - first))
        else:
            library.racetrap_sigrace_begin_scheduled(machine, self._draw)
            while library.racetrap_sigrace_run_scheduled(machine, _SHARE):
                pass
        library.racetrap_sigrace_end(machine)

    def result(self) -> SigraceResult:
        """Result of the run."""
        threads, statistics = self._sigrace.params.threads, SigraceStatistics()
        arrays = [np.zeros(len(each), np.uint64) for each in (_STATISTICS, RDM_COUNTERS, _COSTS)]
        lost = np.zeros((threads, threads), np.uint64)
        own, counters, costs = arrays
        statistics.instructions = self._library.racetrap_sigrace_statistics(
            self._machine, *(array.ctypes.data for array in (own, counters, lost, costs))
        )
        for name, value in zip(_STATISTICS, own.tolist(), strict=True):
            setattr(statistics, name, value)
        found = dict(zip(RDM_COUNTERS, counters.tolist(), strict=True))
        found |= zip(_COSTS, costs.tolist(), strict=True)
        for name in (
            "messages", "comparisons", "intersections", "hits", "passes", "reexecuted", "analysed",
            "repeated_for_nothing",
        ):  # fmt: skip
            setattr(statistics, name, found[name])
        statistics.conflicts_dropped = found["log_dropped"]
        statistics.lost = {
            (thread, other): int(lost[thread, other])
            for thread, other in np.argwhere(lost).tolist()
        }
        statistics.rollbacks = self._rollbacks()
        if found["has_race"]:
            statistics.first_race = FirstRace(
                found["first_committed"], found["first_repeated"],
                found["first_repeated_for_nothing"],
            )  # fmt: skip
        races, false_sharing = self._races(False), self._races(True)
        if false_sharing:
            known = set(races)
            false_sharing = [each for each in false_sharing if each not in known]
        return SigraceResult(
            races, false_sharing, found["conflicts"], found["false_positives"], statistics
        )

    def measures(self) -> Measures:
        """Measures of the run."""
        statistics, data = self.result().statistics, c_void_p()
        found = np.zeros(len(_INTERSECTIONS), np.uint64)
        lost_windows = self._library.racetrap_sigrace_measures(
            self._machine, found.ctypes.data, byref(data)
        )
        sizes = (c_uint32 * statistics.messages).from_address(data.value or 0)
        counts = dict(zip(_INTERSECTIONS, found.tolist(), strict=True))
        return Measures(
            statistics,
            lost_windows=lost_windows,
            message_bytes=np.array(sizes, np.uint32),
            **counts,
        )

    def _rollbacks(self) -> dict[str, int]:
        """Rollbacks by reason, in the order of the first of each."""
        numbers = np.zeros((len(_REASONS), 2), np.uint64)
        count = self._library.racetrap_sigrace_rollbacks(self._machine, numbers.ctypes.data)
        return {_REASONS[reason]: times for reason, times in numbers[:count].tolist()}

    def _races(self, is_false_sharing: bool) -> list[ThreadRace]:
        """Different races, or accesses to different bytes, ascending."""
        data = c_void_p()
        count = self._library.racetrap_sigrace_races(self._machine, is_false_sharing, byref(data))
        if not count:
            return []
        buffer = (c_uint32 * (count * _RACE_DTYPE.itemsize // 4)).from_address(data.value or 0)
        races = np.frombuffer(buffer, _RACE_DTYPE)
        parties = (
            map(
                RaceParty, *(party[name].tolist() for name in ("thread", "epoch", "pc")),
                (party["is_write"] != 0).tolist(),
            )
            for party in (races["first"], races["second"])
        )  # fmt: skip
        return list(map(ThreadRace, races["address"].tolist(), *parties))
