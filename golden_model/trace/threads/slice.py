"""Slice of a trace of threads: some accesses, and all that orders them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.trace.threads.events import ACCESS_KINDS
from racetrap.golden_model.trace.threads.schema import THREAD_SCHEMA
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_MOST_INSTRUCTIONS = (1 << 32) - 1


def slice_trace(
    trace: ThreadTrace, events: range | None = None, threads: Collection[int] | None = None
) -> ThreadTrace:
    """Trace with only some of the plain accesses.

    Synchronisation, atomic accesses, allocations, and beginnings and ends of threads are kept, so
    the remaining accesses race in the slice if and only if they race in the whole trace.  An event
    includes the instructions of its thread's events removed before it.

    Parameters
    ----------
    trace : ThreadTrace
        The whole trace.
    events : range, optional
        Numbers of the events whose accesses are kept; all by default.
    threads : collection of int, optional
        Threads whose accesses are kept; all by default.

    Raises
    ------
    ValueError
        If a thread is not one of the trace's, or a thread commits too many instructions between
        two events that stay.
    """
    records = trace.events
    stays = np.ones(len(records), dtype=bool)
    if events is not None:
        stays[:] = False
        stays[events.start : events.stop] = True
    if threads is not None:
        for thread in threads:
            check_integer("Thread", thread, 0, trace.header.threads - 1)
        stays &= np.isin(records["thread"], list(threads))
    stays |= ~THREAD_SCHEMA.having(ACCESS_KINDS)[records["kind"]]
    left = records[stays]
    left["instructions"] = _instructions(records, stays)
    return ThreadTrace(trace.header, left)


def _instructions(records: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Instructions of each kept event, including those of its thread's events removed before it."""
    # Thread by thread; the first event of each, its beginning, is always kept.
    order = np.argsort(records["thread"], kind="stable")
    kept = stays[order]
    committed = np.cumsum(records["instructions"][order], dtype=np.int64)[kept]
    of_kept = records[order][kept]
    counts = np.diff(committed, prepend=0)
    is_first = np.diff(of_kept["thread"].astype(np.int64), prepend=-1) != 0
    counts[is_first] = of_kept["instructions"][is_first]
    if (most := counts.max()) > _MOST_INSTRUCTIONS:
        raise ValueError(
            f"Instructions between two events of a thread must be at most {_MOST_INSTRUCTIONS}, "
            f"not {most}"
        )
    in_trace = np.empty(len(records), dtype=np.int64)
    in_trace[order[kept]] = counts
    return in_trace[stays]
