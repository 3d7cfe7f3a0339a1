"""Random runs of threads on a few words, plain and atomic: dense in races of every kind."""

from __future__ import annotations

from random import Random

from racetrap.golden_model.trace.threads.events import (
    BOUNDED,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
_DATA, _MUTEX, _RWLOCK, _BARRIER, _OTHER = 0x1000, 0x50, 0x70, 0x90, 0x80
_ATOMICS = (_KIND.ATOMIC_LOAD, _KIND.ATOMIC_STORE, _KIND.ATOMIC_UPDATE)


def trace_of(threads: int, *events: ThreadEvent) -> ThreadTrace:
    """A trace of ``events`` after all threads have been created and have begun."""
    starts = [ThreadEvent(_KIND.BEGIN, 0)]
    for thread in range(1, threads):
        starts += [ThreadEvent(_KIND.CREATE, 0, value=thread), ThreadEvent(_KIND.BEGIN, thread)]
    return ThreadTrace.from_events(ThreadTraceHeader(threads=threads), [*starts, *events])


def random_run(
    seed: int, threads: int = 4, events: int = 400, granules: int = 12, sync: float = 0.3
) -> ThreadTrace:
    """A valid trace of about ``events`` events.

    Parameters
    ----------
    seed : int
        Seed of all randomness.
    threads, events, granules : int
        Threads, events wanted, and 4-byte words that they share.
    sync : float
        Share of events that are not plain accesses.
    """
    run = _Run(Random(f"random run {seed}"), threads, granules)
    while len(run.events) < events:
        run.step(sync)
    run.finish()
    header = ThreadTraceHeader(threads=threads, seed=seed)
    return ThreadTrace.from_events(header, run.events)


class _Run:
    def __init__(self, random: Random, threads: int, granules: int) -> None:
        self.events: list[ThreadEvent] = []
        self._random, self._threads, self._granules = random, threads, granules
        self._alive: list[int] = []
        self._arrived: list[int] = []
        self._leaving: set[int] = set()
        self._owners: dict[int, int] = {}  # of mutexes, and of the rwlock by a writer
        self._readers: set[int] = set()
        self._off: set[int] = set()
        self._begin(0)

    def _add(self, kind: ThreadEventKind, thread: int, **fields: int) -> None:
        random = self._random
        fields.setdefault("pc", random.randrange(1, 12))
        self.events.append(
            ThreadEvent(kind, thread, instructions=random.randrange(1, 50), **fields)
        )

    def _begin(self, thread: int) -> None:
        if thread:
            self._add(_KIND.CREATE, self._random.choice(self._ready()), value=thread)
        self._add(_KIND.BEGIN, thread)
        self._alive.append(thread)

    def _ready(self) -> list[int]:
        return [thread for thread in self._alive if thread not in self._arrived]

    def step(self, sync: float) -> None:
        random = self._random
        thread = random.choice(self._ready())
        if thread in self._leaving:
            self._leave(thread)
        elif len(self._alive) < self._threads and random.random() < 0.1:
            self._begin(len(self._alive))
        elif random.random() >= sync:
            address = _DATA + random.randrange(4 * self._granules)
            kind = random.choice((_KIND.LOAD, _KIND.LOAD, _KIND.STORE))
            self._add(kind, thread, address=address, size=random.choice((1, 2, 4, 4, 8, 16)))
        else:
            random.choice((
                self._mutex, self._mutex, self._rwlock, self._other, self._atomic, self._collect,
                self._memory, self._barrier,
            ))(thread)  # fmt: skip

    def _leave(self, thread: int) -> None:
        self._add(_KIND.BARRIER_LEAVE, thread, address=_BARRIER, value=self._threads)
        self._leaving.remove(thread)

    def _mutex(self, thread: int) -> None:
        lock = _MUTEX + 4 * self._random.randrange(2)
        if self._owners.get(lock) == thread:
            self._add(_KIND.RELEASE, thread, address=lock, value=SyncClass.MUTEX)
            del self._owners[lock]
        elif lock not in self._owners:
            self._acquire(thread, lock, SyncClass.MUTEX)
            self._owners[lock] = thread

    def _rwlock(self, thread: int) -> None:
        read, write = SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE
        if self._owners.get(_RWLOCK) == thread:
            self._add(_KIND.RELEASE, thread, address=_RWLOCK, value=write)
            del self._owners[_RWLOCK]
        elif thread in self._readers:
            self._add(_KIND.RELEASE, thread, address=_RWLOCK, value=read)
            self._readers.remove(thread)
        elif _RWLOCK not in self._owners and self._random.random() < 0.5:
            self._acquire(thread, _RWLOCK, read)
            self._readers.add(thread)
        elif _RWLOCK not in self._owners and not self._readers:
            self._acquire(thread, _RWLOCK, write)
            self._owners[_RWLOCK] = thread

    def _acquire(self, thread: int, lock: int, sync_class: SyncClass) -> None:
        wait = BOUNDED * (len(self.events) % 2)
        self._add(_KIND.ACQUIRE, thread, address=lock, size=wait, value=sync_class)

    def _other(self, thread: int) -> None:
        kind = self._random.choice((_KIND.ACQUIRE, _KIND.RELEASE))
        value = self._random.choice((SyncClass.CONDITION, SyncClass.SEMAPHORE, SyncClass.FLAG))
        self._add(kind, thread, address=_OTHER, value=value)

    def _atomic(self, thread: int) -> None:
        address = _DATA + 4 * self._random.randrange(self._granules)
        kind, order = self._random.choice(_ATOMICS), self._random.randrange(4)
        self._add(kind, thread, address=address, size=4, value=order)

    def _collect(self, thread: int) -> None:
        self._add(_KIND.COLLECT_ON if thread in self._off else _KIND.COLLECT_OFF, thread)
        self._off ^= {thread}

    def _memory(self, thread: int) -> None:
        address = _DATA + 4 * self._random.randrange(self._granules)
        if self._random.random() < 0.3:
            self._add(_KIND.FREE, thread, address=address)
            self._add(_KIND.ALLOCATE, thread, address=address, value=self._random.randrange(1, 12))

    def _barrier(self, thread: int) -> None:
        if len(self._alive) == self._threads and self._threads > 1:
            self._add(_KIND.BARRIER_ARRIVE, thread, address=_BARRIER, value=self._threads)
            self._arrived.append(thread)
            if len(self._arrived) == self._threads:
                self._leaving = set(self._arrived)
                self._arrived.clear()

    def finish(self) -> None:
        """Complete the crossing, and let all threads end."""
        while len(self._alive) < self._threads:
            self._begin(len(self._alive))
        for thread in sorted(self._leaving):
            self._leave(thread)
        if self._arrived:
            for thread in self._ready():
                self._barrier(thread)
            for thread in sorted(self._leaving):
                self._leave(thread)
        for thread in self._random.sample(range(1, self._threads), self._threads - 1):
            self._add(_KIND.END, thread)
            self._add(_KIND.JOIN, 0, value=thread)
            self._random.choice((self._mutex, self._rwlock))(0)
        self._add(_KIND.END, 0)
