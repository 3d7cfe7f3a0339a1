"""Exact detector of races between threads, compiled: one pass, in the order of the trace.

It finds the same pairs of instructions as the happened-before oracle, which is its specification,
but not all instances of each.  Its memory follows from the places that a program accesses, not
from the number of events.
"""

from __future__ import annotations

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

__all__ = ["ExactRace", "exact_races", "prepare_detector"]

_SOURCE = Path(__file__).with_suffix(".cpp")
_HEADERS = (_SOURCE.with_name("sync_objects.h"), _SOURCE.with_name("thread_events.h"))
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {
    "racetrap_exact_new": (c_void_p, [c_uint32]),
    "racetrap_exact_run": (None, [c_void_p, c_void_p, c_uint64]),
    "racetrap_exact_pairs": (c_uint64, [c_void_p, c_void_p, c_uint64]),
    "racetrap_exact_delete": (None, [c_void_p]),
}
_PAIR_DTYPE = np.dtype([
    ("address", "<u8"),
    ("addresses", "<u8"),
    ("threads", "<u4", 2),
    ("epochs", "<u4", 2),
    ("pcs", "<u4", 2),
    ("writes", "<u4", 2),
])  # fmt: skip


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
    """The compiled detector; compiled and loaded by the first call."""
    return compiled_library("exact_detector", [_SOURCE, *_HEADERS], _OPTIONS, _FUNCTIONS)


def exact_races(trace: ThreadTrace) -> list[ExactRace]:
    """Pairs of instructions that race in a trace, by the address of their first instance.

    Raises
    ------
    Failure
        If the detector cannot be compiled.
    """
    return _races(trace.header, np.ascontiguousarray(trace.events, THREAD_DTYPE))


def _races(header: ThreadTraceHeader, events: np.ndarray) -> list[ExactRace]:
    library = prepare_detector()
    detector = library.racetrap_exact_new(header.threads)
    try:
        library.racetrap_exact_run(detector, events.ctypes.data, len(events))
        pairs = np.zeros(library.racetrap_exact_pairs(detector, None, 0), _PAIR_DTYPE)
        library.racetrap_exact_pairs(detector, pairs.ctypes.data, len(pairs))
    finally:
        library.racetrap_exact_delete(detector)
    return sorted(map(_race, pairs.tolist()))


def _race(pair: tuple[int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> ExactRace:
    address, addresses, *fields = pair
    one, other = (
        RaceParty(thread, epoch, pc, bool(writes))
        for thread, epoch, pc, writes in zip(*(field.tolist() for field in fields), strict=True)
    )
    return ExactRace(ThreadRace.of(address, one, other), addresses)
