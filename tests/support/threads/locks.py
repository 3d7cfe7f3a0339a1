"""Holders of locks, for the generator of random traces of threads."""

from __future__ import annotations

from racetrap.golden_model.trace.threads.events import SyncClass


class ThreadLocks:
    """Mutexes and readers-writer locks; ``held`` has those of each thread."""

    def __init__(self) -> None:
        self.held: dict[int, list[tuple[int, SyncClass]]] = {}
        self._exclusive: set[int] = set()
        self._readers: dict[int, int] = {}

    def is_free(self, address: int, item: SyncClass) -> bool:
        shared = item == SyncClass.RWLOCK_READ or not self._readers.get(address)
        return address not in self._exclusive and shared

    def take(self, thread: int, address: int, item: SyncClass) -> None:
        self.held.setdefault(thread, []).append((address, item))
        if item == SyncClass.RWLOCK_READ:
            self._readers[address] = self._readers.get(address, 0) + 1
        else:
            self._exclusive.add(address)

    def drop(self, thread: int, address: int, item: SyncClass) -> None:
        self.held[thread].remove((address, item))
        if item == SyncClass.RWLOCK_READ:
            self._readers[address] -= 1
        else:
            self._exclusive.remove(address)
