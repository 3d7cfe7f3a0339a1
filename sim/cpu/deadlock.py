"""Deadlock of a recorded program: what each thread waits for, and its holder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
_LOCKS = (SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)


class WaitingThread(NamedTuple):
    """A thread that waits forever.

    Parameters
    ----------
    thread : int
        The thread.
    pc : int
        Place of its last event, after which it waits.
    address : int
        Address at which it waits: a lock, or another object.
    holder, holder_pc : int or None
        If it is a lock, the thread that holds it, and where it was acquired.
    """

    thread: int
    pc: int
    address: int
    holder: int | None
    holder_pc: int | None


def waiting_threads(
    trace: ThreadTrace, waits: Iterable[tuple[int, int]], threads: Mapping[int, int]
) -> list[WaitingThread]:
    """Threads that wait at the end of a trace, by number.

    Parameters
    ----------
    trace : ThreadTrace
        The trace.
    waits : iterable of (int, int)
        The kernel's id of each thread, and the address at which it waits.
    threads : mapping of int to int
        Thread of each id of the kernel's.
    """
    holders, events = _holders(trace), trace.events
    found = []
    for tid, address in waits:
        if tid not in threads:
            continue
        thread = threads[tid]
        own = events["pc"][(events["thread"] == thread) & (events["pc"] != 0)]
        holder, holder_pc = holders.get(address, (None, None))
        found.append(
            WaitingThread(thread, int(own[-1]) if len(own) else 0, address, holder, holder_pc)
        )
    return sorted(found)


def _holders(trace: ThreadTrace) -> dict[int, tuple[int, int]]:
    """Thread that holds each lock at the end, and where it acquired it."""
    kind, value = trace.events["kind"], trace.events["value"]
    rows = np.flatnonzero((kind == _KIND.ACQUIRE) | (kind == _KIND.RELEASE))
    events = trace.events[rows[np.isin(value[rows], _LOCKS)]]
    columns = (events[name].tolist() for name in ("kind", "address", "thread", "pc"))
    holders: dict[int, tuple[int, int]] = {}
    for code, address, thread, pc in zip(*columns, strict=True):
        if code == _KIND.ACQUIRE:
            holders[address] = thread, pc
        else:
            holders.pop(address, None)
    return holders
