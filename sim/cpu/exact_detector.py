"""Exact detector of races between threads, compiled: one pass, in the order of the trace.

It finds the same pairs of instructions as the happens-before oracle, which is its specification,
but not all instances of each.  Its memory depends on the addresses that a program accesses, not on
the number of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CDLL, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cpu.thread_twins import THREAD_TWINS
from racetrap.sim.twins import record

_SOURCE = Path(__file__).with_suffix(".cpp")
_HEADERS = (_SOURCE.with_name("sync_objects.h"), _SOURCE.with_name("thread_events.h"))
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {
    "racetrap_exact_new": (c_void_p, [c_uint32]),
    "racetrap_exact_run": (c_uint64, [c_void_p, c_void_p, c_uint64, c_uint64]),
    "racetrap_exact_pairs": (c_uint64, [c_void_p, c_void_p, c_uint64]),
    "racetrap_exact_delete": (None, [c_void_p]),
}
_WITHOUT_LIMIT = (1 << 64) - 1
_PAIR_DTYPE = np.dtype([
    ("address", "<u8"),
    ("addresses", "<u8"),
    ("threads", "<u4", 2),
    ("epochs", "<u4", 2),
    ("pcs", "<u4", 2),
    ("writes", "<u4", 2),
])  # fmt: skip
_TWINS = (*THREAD_TWINS, record(_PAIR_DTYPE, "Pair"))


class ExactRace(NamedTuple):
    """A pair of instructions that race.

    Parameters
    ----------
    first : ThreadRace
        The first instance in the order of the trace.
    addresses : int
        Granules at which they race.
    """

    first: ThreadRace
    addresses: int


@cache
def prepare_detector() -> CDLL:
    """The compiled detector, compiled and loaded on the first call."""
    return compiled_library("exact_detector", [_SOURCE, *_HEADERS], _OPTIONS, _FUNCTIONS, _TWINS)


def exact_races(trace: ThreadTrace) -> list[ExactRace]:
    """Pairs of instructions that race in a trace, by the address of their first instance.

    Raises
    ------
    Failure
        If the detector cannot be compiled.
    """
    ((_, races),) = _parts(trace.header, trace.events, _WITHOUT_LIMIT)
    return races


def races_so_far(trace: ThreadTrace) -> Iterator[tuple[int, list[ExactRace]]]:
    """Number of events up to each one with new pairs, and the pairs in these; finally the number of
    all events, with all pairs.

    Raises
    ------
    Failure
        If the detector cannot be compiled.
    """
    return _parts(trace.header, trace.events, 0)


def _parts(
    header: ThreadTraceHeader, records: np.ndarray, most: int
) -> Iterator[tuple[int, list[ExactRace]]]:
    """Stop whenever there are more new pairs than ``most``, and at the end."""
    events = np.ascontiguousarray(records, THREAD_DTYPE)
    library = prepare_detector()
    detector = library.racetrap_exact_new(header.threads)
    try:
        taken, count = 0, 0
        while True:
            rest = events[taken:]
            taken += library.racetrap_exact_run(
                detector, rest.ctypes.data, len(rest), min(count + most, _WITHOUT_LIMIT)
            )
            count = library.racetrap_exact_pairs(detector, None, 0)
            pairs = np.zeros(count, _PAIR_DTYPE)
            library.racetrap_exact_pairs(detector, pairs.ctypes.data, count)
            yield taken, sorted(map(_race, pairs.tolist()))
            if taken == len(events):
                return
    finally:
        library.racetrap_exact_delete(detector)


def _race(pair: tuple[int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> ExactRace:
    address, addresses, *fields = pair
    one, other = (
        RaceParty(thread, epoch, pc, bool(writes))
        for thread, epoch, pc, writes in zip(*(field.tolist() for field in fields), strict=True)
    )
    return ExactRace(ThreadRace.of(address, one, other), addresses)
