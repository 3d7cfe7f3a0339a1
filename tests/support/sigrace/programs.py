"""Small programs with threads, written event by event, as traces."""

from __future__ import annotations

from racetrap.golden_model.trace.threads.events import (
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace


class ThreadProgram:
    """Threads 0 to ``threads - 1``; the first creates all others before anything else.

    Every method adds an event of one thread; ``pc`` numbers the events from 0x100 unless given.
    """

    def __init__(self, threads: int):
        self.threads = threads
        self.events: list[ThreadEvent] = []
        self.add(ThreadEventKind.BEGIN, 0)
        for thread in range(1, threads):
            self.add(ThreadEventKind.CREATE, 0, value=thread)
            self.add(ThreadEventKind.BEGIN, thread)

    def add(self, kind, thread, address=0, size=0, value=0, pc=None, instructions=1):
        """Add any event; returns the number of it."""
        pc = 0x100 + len(self.events) if pc is None else pc
        self.events.append(ThreadEvent(kind, thread, address, size, value, pc, instructions))
        return len(self.events) - 1

    def load(self, thread, address, size=4, **more):
        return self.add(ThreadEventKind.LOAD, thread, address, size, **more)

    def store(self, thread, address, size=4, **more):
        return self.add(ThreadEventKind.STORE, thread, address, size, **more)

    def lock(self, thread, mutex=0x9000, **more):
        return self.add(ThreadEventKind.ACQUIRE, thread, mutex, value=SyncClass.MUTEX, **more)

    def unlock(self, thread, mutex=0x9000, **more):
        return self.add(ThreadEventKind.RELEASE, thread, mutex, value=SyncClass.MUTEX, **more)

    def synchronise(self, thread, **more):
        """Lock and unlock a mutex of the thread's own: two epochs further, ordered with nobody."""
        self.lock(thread, 0xA000 + 0x10 * thread, **more)
        self.unlock(thread, 0xA000 + 0x10 * thread, **more)

    def trace(self, **header) -> ThreadTrace:
        """The program, after the end of all threads that have not ended."""
        events = list(self.events)
        ended = {event.thread for event in events if event.kind == ThreadEventKind.END}
        for thread in range(self.threads - 1, -1, -1):
            if thread not in ended:
                events.append(ThreadEvent(ThreadEventKind.END, thread))
        return ThreadTrace.from_events(ThreadTraceHeader(threads=self.threads, **header), events)
