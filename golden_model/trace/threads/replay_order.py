"""Replay order: constraints of a trace on the order of events when it is replayed.

The order of each thread's events is kept, and that of the synchronisation events on each object.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.container.arrays import group_numbers, running_sums
from racetrap.golden_model.trace.container.columns import record_events
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    MemoryOrder,
    ThreadEvent,
    ThreadEventKind,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

#: Type of object of each kind of event; other kinds order nothing.
_SORTS = {
    ThreadEventKind.ACQUIRE: 1,
    ThreadEventKind.RELEASE: 1,
    ThreadEventKind.BARRIER_ARRIVE: 2,
    ThreadEventKind.BARRIER_LEAVE: 2,
    **dict.fromkeys(ATOMIC_KINDS, 3),
    **dict.fromkeys((ThreadEventKind.CREATE, ThreadEventKind.JOIN), 4),
    **dict.fromkeys((ThreadEventKind.BEGIN, ThreadEventKind.END), 4),
}


class SyncOrder:
    """Synchronisation events that may happen now: all earlier events of their object have happened.

    Parameters
    ----------
    trace : ThreadTrace
        Order of events on each object.
    """

    def __init__(self, trace: ThreadTrace) -> None:
        events = trace.events
        kind, value = events["kind"], events["value"]
        sorts = np.array([_SORTS.get(kind, 0) for kind in ThreadEventKind])[kind]
        sorts[(sorts == 3) & (value % len(MemoryOrder) == MemoryOrder.RELAXED)] = 0
        # The lifecycle of a thread is an object, too.
        names = events["address"].copy()
        by_value = np.isin(kind, (ThreadEventKind.CREATE, ThreadEventKind.JOIN))
        by_thread = np.isin(kind, (ThreadEventKind.BEGIN, ThreadEventKind.END))
        names[by_value], names[by_thread] = value[by_value], events["thread"][by_thread]
        rows = np.flatnonzero(sorts)
        numbers = group_numbers(sorts[rows], names[rows])
        turns = running_sums(numbers, np.ones(len(rows), dtype=np.int64)) - 1
        self._turns = dict(
            zip(rows.tolist(), zip(numbers.tolist(), turns.tolist(), strict=True), strict=True)
        )
        self._done = [0] * (int(numbers.max()) + 1 if len(numbers) else 0)

    def is_ready(self, number: int) -> bool:
        """Whether event ``number`` of the trace may happen now."""
        turn = self._turns.get(number)
        return turn is None or self._done[turn[0]] == turn[1]

    def happen(self, number: int) -> bool:
        """Let an event happen; return whether it synchronises, so that others may become ready."""
        turn = self._turns.get(number)
        if turn is None:
            return False
        self._done[turn[0]] += 1
        return True


class ThreadCursor:
    """The next event of one thread.

    Parameters
    ----------
    thread : int
        The thread.
    numbers, records : numpy.ndarray
        Numbers in the trace and records of all its events.

    Attributes
    ----------
    number : int
        Number of the next event, or -1 if there is none.
    event : ThreadEvent
        The next event, while there is one.
    """

    number: int
    event: ThreadEvent

    def __init__(self, thread: int, numbers: np.ndarray, records: np.ndarray) -> None:
        self.thread = thread
        self._rest = zip(numbers.tolist(), record_events(ThreadEvent, records), strict=True)
        self.step()

    def step(self) -> None:
        """Go to the next event."""
        self.number, self.event = next(self._rest, (-1, ThreadEvent(0, self.thread)))


def thread_cursors(trace: ThreadTrace) -> list[ThreadCursor]:
    """A cursor at the first event of each thread."""
    threads = trace.header.threads
    order = np.argsort(trace.events["thread"], kind="stable")
    ends = np.searchsorted(trace.events["thread"][order], np.arange(threads), side="right")
    return [
        ThreadCursor(thread, rows, trace.events[rows])
        for thread, rows in enumerate(np.split(order, ends[:-1]))
    ]
