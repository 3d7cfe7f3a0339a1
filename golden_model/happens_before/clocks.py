"""Vector clocks of all epochs of a trace.

Ref: SigRace (ISCA'09) Sections 2.1 and 4.2, Table 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import MemoryOrder, SyncClass, ThreadEventKind

_KIND = ThreadEventKind


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
    library = _Clocks(threads)
    fields = ("kind", "thread", "address", "value")
    rows = events[steps > 0]
    for kind, thread, address, value in zip(*(rows[name].tolist() for name in fields), strict=True):
        library.event(kind, thread, address, value)
    lengths = [len(history) // threads for history in library.histories]
    first = np.cumsum([0] + lengths[:-1])
    flat = [np.array(history, np.int32) for history in library.histories]
    return EpochClocks(np.concatenate(flat).reshape(-1, threads), first)


class _Clocks:
    """Clocks of threads and synchronisation objects, advanced event by event."""

    def __init__(self, threads: int) -> None:
        self._now = [[0] * threads for _ in range(threads)]
        self.histories: list[list[int]] = [[0] * threads for _ in range(threads)]
        self._objects: defaultdict[tuple[str, int, int], list[int]] = defaultdict(
            lambda: [0] * threads
        )
        self._arrivals: defaultdict[int, int] = defaultdict(int)
        self._crossings: dict[tuple[int, int], int] = {}
        self._handlers: dict[int, Callable[[int, int, int], None]] = {
            _KIND.ACQUIRE: self._acquire,
            _KIND.RELEASE: self._release,
            _KIND.BARRIER_ARRIVE: self._arrive,
            _KIND.BARRIER_LEAVE: self._leave,
            _KIND.CREATE: lambda thread, _, child: self._give(thread, ("create", child, 0)),
            _KIND.BEGIN: lambda thread, *_: self._take(thread, ("create", thread, 0)),
            _KIND.END: lambda thread, *_: self._give(thread, ("end", thread, 0)),
            _KIND.JOIN: lambda thread, _, child: self._take(thread, ("end", child, 0)),
            _KIND.ATOMIC_LOAD: lambda thread, word, _: self._take(thread, ("atomic", word, 0)),
            _KIND.ATOMIC_STORE: lambda thread, word, _: self._give(thread, ("atomic", word, 0)),
            _KIND.ATOMIC_UPDATE: self._update,
        }

    def event(self, kind: int, thread: int, address: int, value: int) -> None:
        """Make the epochs that one event ends."""
        self._handlers[kind](thread, address, value)

    def _give(self, thread: int, name: tuple[str, int, int], overwrite: bool = False) -> None:
        """Release: a new epoch, whose clock goes into the object."""
        now = self._now[thread]
        now[thread] += 1
        self.histories[thread] += now
        if overwrite:
            self._objects[name] = now.copy()
        else:
            self._objects[name] = [*map(max, self._objects[name], now)]

    def _take(self, thread: int, *names: tuple[str, int, int]) -> None:
        """Acquire: a new epoch, whose clock knows what the objects know."""
        now = self._now[thread]
        now[thread] += 1
        for name in names:
            if name in self._objects:
                now[:] = map(max, now, self._objects[name])
        self.histories[thread] += now

    def _acquire(self, thread: int, address: int, sync_class: int) -> None:
        writers = ("rwlock writers", address, 0)
        if sync_class == SyncClass.RWLOCK_WRITE:
            self._take(thread, writers, ("rwlock readers", address, 0))
        elif sync_class == SyncClass.RWLOCK_READ:
            self._take(thread, writers)
        else:
            self._take(thread, ("object", address, sync_class))

    def _release(self, thread: int, address: int, sync_class: int) -> None:
        if sync_class == SyncClass.RWLOCK_WRITE:
            self._give(thread, ("rwlock writers", address, 0), overwrite=True)
        elif sync_class == SyncClass.RWLOCK_READ:
            self._give(thread, ("rwlock readers", address, 0))
        else:
            is_mutex = sync_class == SyncClass.MUTEX
            self._give(thread, ("object", address, sync_class), overwrite=is_mutex)

    def _arrive(self, thread: int, barrier: int, width: int) -> None:
        """The first ``width`` arrivals at a barrier are its first crossing, and so on."""
        crossing = self._arrivals[barrier] // width
        self._arrivals[barrier] += 1
        self._crossings[thread, barrier] = crossing
        self._give(thread, ("barrier", barrier, crossing))

    def _leave(self, thread: int, barrier: int, _width: int) -> None:
        self._take(thread, ("barrier", barrier, self._crossings[thread, barrier]))

    def _update(self, thread: int, address: int, order: int) -> None:
        if order & MemoryOrder.RELEASE:
            self._give(thread, ("atomic", address, 0))
        if order & MemoryOrder.ACQUIRE:
            self._take(thread, ("atomic", address, 0))
