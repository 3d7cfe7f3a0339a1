"""Vector clocks of all epochs of a trace.

Ref: SigRace (ISCA'09) Sections 2.1 and 4.2, Table 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.sync_objects import SyncObjects, Timestamp
from racetrap.golden_model.trace.threads.events import ThreadEvent, acquires, releases


class EpochClocks(NamedTuple):
    """The clock of every epoch of every thread.

    Epoch ``f`` of thread ``t`` happened before epoch ``g`` of thread ``u`` iff
    ``f < matrix[first[u] + g, t]``.

    Parameters
    ----------
    matrix : ndarray of int32
        A row for each epoch, the epochs of a thread one after the other; a column a thread.
    first : ndarray of int64
        Row of each thread's epoch 0.
    """

    matrix: np.ndarray
    first: np.ndarray


def epoch_clocks(events: np.ndarray, steps: np.ndarray, threads: int) -> EpochClocks:
    """Clocks of a trace's epochs.

    Parameters
    ----------
    events : ndarray
        Records of the trace.
    steps : ndarray of int64
        Epochs that each event ends (``event_epochs``).
    threads : int
        Threads of the trace.
    """
    objects = SyncObjects()
    now: list[Timestamp] = [(0,) * threads] * threads
    histories: list[list[int]] = [[0] * threads for _ in range(threads)]

    def step(thread: int, *learnt: Timestamp) -> None:
        """A new epoch, whose clock includes the knowledge acquired."""
        clock = now[thread]
        clock = (*clock[:thread], clock[thread] + 1, *clock[thread + 1 :])
        now[thread] = tuple(map(max, clock, *learnt)) if learnt else clock
        histories[thread] += now[thread]

    columns = (events[steps > 0][name].tolist() for name in ThreadEvent._fields)
    for event in map(ThreadEvent, *columns):
        if releases(event.kind, event.value):
            step(event.thread)
            objects.release(event, now[event.thread])
        if acquires(event.kind, event.value, event.thread):
            step(event.thread, *objects.acquire(event))
    lengths = [len(history) // threads for history in histories]
    first = np.cumsum([0] + lengths[:-1])
    flat = [np.array(history, np.int32) for history in histories]
    return EpochClocks(np.concatenate(flat).reshape(-1, threads), first)
