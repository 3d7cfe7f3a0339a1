"""Timestamp fields of synchronisation objects: written by releases, read by acquires.

Ref: SigRace (ISCA'09) Sections 2.1 and 4.2, Table 2.
"""

from __future__ import annotations

from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEvent, ThreadEventKind

#: A counter for each thread.
Timestamp = tuple[int, ...]

#: Classes whose release overwrites the object's timestamp: the releasing thread has acquired it.
_OVERWRITING = (SyncClass.MUTEX, SyncClass.RWLOCK_WRITE)


class SyncObjects:
    """The timestamp field of every object of a program; it exists from the first release on.

    A mutex, and a readers-writer lock for its writers, is overwritten at a release; everything else
    takes the maximum: a later acquire may have waited for any of several releases. A readers-writer
    lock has two fields: a reader waits for writers only, a writer for all. A barrier has a field
    for each crossing, since a fast thread may arrive at the next crossing before a slow one has
    left the last; crossings are distinguished by counting arrivals.
    """

    def __init__(self) -> None:
        self._fields: dict[tuple[int, ...], Timestamp] = {}
        self._arrivals: dict[int, int] = {}
        self._crossings: dict[tuple[int, int], tuple[int, ...]] = {}
        self._leaves: dict[tuple[int, ...], int] = {}

    def release(self, event: ThreadEvent, timestamp: Timestamp) -> None:
        """Merge the timestamp of a thread into the object that ``event`` releases."""
        key = self._released(event)
        known = self._fields.get(key)
        if known is not None and not (
            event.kind == ThreadEventKind.RELEASE and event.value in _OVERWRITING
        ):
            timestamp = tuple(map(max, known, timestamp))
        self._fields[key] = timestamp

    def acquire(self, event: ThreadEvent) -> list[Timestamp]:
        """Timestamps that the thread of ``event`` learns from what it acquires."""
        keys = self._acquired(event)
        found = [self._fields[key] for key in keys if key in self._fields]
        if event.kind == ThreadEventKind.BARRIER_LEAVE:
            self._forget(keys[0], event.value)
        return found

    def _released(self, event: ThreadEvent) -> tuple[int, ...]:
        """Key of the field that a release writes."""
        kind = event.kind
        if kind == ThreadEventKind.RELEASE:
            return kind, event.value, event.address
        if kind == ThreadEventKind.BARRIER_ARRIVE:
            return self._arrive(event)
        if kind == ThreadEventKind.CREATE:
            return kind, event.value
        if kind == ThreadEventKind.END:
            return kind, event.thread
        return ThreadEventKind.ATOMIC_UPDATE, event.address

    def _acquired(self, event: ThreadEvent) -> list[tuple[int, ...]]:
        """Keys of the fields that an acquire reads."""
        kind = event.kind
        if kind == ThreadEventKind.ACQUIRE:
            classes: tuple[int, ...] = (event.value,)
            if event.value in (SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE):
                classes = (SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)
                classes = classes[event.value == SyncClass.RWLOCK_READ :]
            return [(ThreadEventKind.RELEASE, item, event.address) for item in classes]
        if kind == ThreadEventKind.BARRIER_LEAVE:
            return [self._crossings[event.thread, event.address]]
        if kind == ThreadEventKind.BEGIN:
            return [(ThreadEventKind.CREATE, event.thread)]
        if kind == ThreadEventKind.JOIN:
            return [(ThreadEventKind.END, event.value)]
        return [(ThreadEventKind.ATOMIC_UPDATE, event.address)]

    def _arrive(self, event: ThreadEvent) -> tuple[int, ...]:
        """Count an arrival: the first ``width`` of a barrier are its first crossing."""
        arrivals = self._arrivals.get(event.address, 0)
        self._arrivals[event.address] = arrivals + 1
        key = (ThreadEventKind.BARRIER_ARRIVE, event.address, arrivals // event.value)
        self._crossings[event.thread, event.address] = key
        return key

    def _forget(self, crossing: tuple[int, ...], width: int) -> None:
        """Drop the field of a crossing that all its threads have left."""
        leaves = self._leaves.pop(crossing, 0) + 1
        if leaves == width:
            del self._fields[crossing]
        else:
            self._leaves[crossing] = leaves
