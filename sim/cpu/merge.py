"""Merge of the raw records of all threads into one trace's events by virtual time, compiled.

A thread's virtual time is the number of instructions that it has committed, as if every thread had
its own core; where it waits for others its time advances to theirs.  The events on each
synchronisation object, and on each block of the heap, stay in the order in which they were
recorded.  The same raw records always give the same order.

Its memory is that of the events, and a little for each wait of a thread.
"""

from __future__ import annotations

from ctypes import CDLL, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cpu.raw import RAW_TWINS, RawFrame, map_records
from racetrap.sim.cpu.thread_twins import THREAD_TWINS
from racetrap.sim.twins import numbers

_SOURCE = Path(__file__).with_suffix(".cpp")
_HEADER = _SOURCE.with_name("thread_events.h")
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {
    "racetrap_merge_new": (c_void_p, [c_void_p, c_uint64, c_uint64]),
    "racetrap_merge_room": (c_uint64, [c_void_p]),
    "racetrap_merge_run": (c_uint64, [c_void_p, c_void_p]),
    "racetrap_merge_pcs": (c_uint64, [c_void_p, c_void_p, c_uint64]),
    "racetrap_merge_frames": (c_uint64, [c_void_p, c_void_p, c_void_p, c_uint64]),
    "racetrap_merge_delete": (None, [c_void_p]),
}
_TWINS = (
    *THREAD_TWINS,
    *RAW_TWINS,
    numbers("Frame", RawFrame._fields, bits=32, is_ordered=True),
)
_WITHOUT_LIMIT = (1 << 64) - 1


class MergedEvents(NamedTuple):
    """Events of a recorded run in one order.

    Parameters
    ----------
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``.
    pcs : list of int
        Their program counters, ascending.
    frames : dict of int to RawFrame
        Frames on the stacks of their accesses, by the numbers in the accesses' values.
    """

    events: np.ndarray
    pcs: list[int]
    frames: dict[int, RawFrame]


@cache
def prepare_merge() -> CDLL:
    """The compiled merge, compiled and loaded on the first call."""
    return compiled_library("merge", [_SOURCE, _HEADER], _OPTIONS, _FUNCTIONS, _TWINS)


def merge_records(folder: Path, most: int | None = None) -> MergedEvents:
    """Events of the run with raw records in ``folder``; none if there are none.

    Parameters
    ----------
    folder : Path
        Folder of the raw records.
    most : int or None
        Events after which the order is cut off.

    Raises
    ------
    Failure
        If the merge cannot be compiled.
    """
    library, data = prepare_merge(), map_records(folder)
    merge = library.racetrap_merge_new(
        data.ctypes.data, len(data), _WITHOUT_LIMIT if most is None else most
    )
    try:
        events = np.empty(library.racetrap_merge_room(merge), THREAD_DTYPE)
        events = events[: library.racetrap_merge_run(merge, events.ctypes.data)]
        pcs = np.empty(library.racetrap_merge_pcs(merge, None, 0), np.uint32)
        library.racetrap_merge_pcs(merge, pcs.ctypes.data, len(pcs))
        count = library.racetrap_merge_frames(merge, None, None, 0)
        frames = np.empty((count, len(RawFrame._fields)), np.uint32)
        used = np.empty(len(frames), np.uint8)
        library.racetrap_merge_frames(merge, frames.ctypes.data, used.ctypes.data, len(frames))
    finally:
        library.racetrap_merge_delete(merge)
    return MergedEvents(events, np.sort(pcs).tolist(), _on_stacks(frames, used))


def _on_stacks(frames: np.ndarray, used: np.ndarray) -> dict[int, RawFrame]:
    """Frames that are used, and their callers, by number from 1."""
    found: dict[int, RawFrame] = {}
    for row in np.flatnonzero(used).tolist():
        number = row + 1
        while number and number not in found:
            found[number] = RawFrame(*frames[number - 1].tolist())
            number = found[number].caller
    return found
