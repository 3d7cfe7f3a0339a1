"""Random valid traces of threads, with every kind of event and of synchronisation.

A small random scheduler plays programs that are made up on the way.  What a thread has begun and
must go through with (a barrier, a wait, its end) is on its agenda; everything else is chosen
afresh at each turn.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from racetrap.golden_model.trace.threads.events import (
    ORDER_BITS,
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from tests.support.threads.locks import ThreadLocks

_K = ThreadEventKind
_DATA, _ATOMICS, _HEAP = 0x1000_0000, 0x2000_0000, 0x3000_0000
_OBJECTS = {name: 0x4000_0000 + 0x1000 * index for index, name in enumerate(
    ("mutex", "rwlock", "condition", "semaphore", "flag", "barrier")
)}  # fmt: skip
_ATOMIC_KINDS = (_K.ATOMIC_LOAD, _K.ATOMIC_STORE, _K.ATOMIC_UPDATE)
_SIZES = (1, 2, 4, 4, 4, 8, 16, 3)
#: Values of an agenda: an event to make, once the test before it holds.
_Item = tuple[Callable[[], bool], ThreadEvent]


class _Program:
    """A program that is made up while it runs."""

    def __init__(self, seed: int, threads: int, events: int, addresses: int, objects: int) -> None:
        self.random = Random(seed)
        self.events: list[ThreadEvent] = []
        self._threads, self._addresses, self._objects = threads, addresses, objects
        #: About half the threads end before they must.
        self._end_rate = min(0.5, 400 / events)
        self._locks = ThreadLocks()
        self._agenda: dict[int, list[_Item]] = {}
        self._children: dict[int, list[int]] = {}
        self._off: set[int] = set()
        self._heap: list[int] = []
        self._created, self._arrived = 1, dict.fromkeys(range(objects), 0)
        self._ended: set[int] = set()
        self._begin(0)
        self._choices = (
            (self._access, 60), (self._atomic, 8), (self._lock, 10), (self._unlock, 9),
            (self._signal, 6), (self._wait, 2), (self._barrier, 3), (self._create, 3),
            (self._join, 2), (self._memory, 2), (self._collect, 1), (self._end, 1),
        )  # fmt: skip

    # Making events ----------------------------------------------------------------------

    def _event(self, kind: _K, thread: int, address: int = 0, size: int = 0, value: int = 0):
        instructions = self.random.choice((0, 1, 3, self.random.randrange(40), 5000))
        pc = self.random.randrange(1, 64) * 4 if self.random.random() < 0.9 else 0
        self.events.append(ThreadEvent(kind, thread, address, size, value, pc, instructions))
        if kind == _K.RELEASE and value <= SyncClass.RWLOCK_WRITE:
            self._locks.drop(thread, address, SyncClass(value))
        if kind == _K.ACQUIRE and value <= SyncClass.RWLOCK_WRITE:
            self._locks.take(thread, address, SyncClass(value))

    def _begin(self, thread: int) -> None:
        self._agenda[thread], self._children[thread] = [], []
        self._event(_K.BEGIN, thread)

    def _object(self, name: str) -> int:
        return _OBJECTS[name] + 8 * self.random.randrange(self._objects)

    def step(self) -> bool:
        """One turn of a random thread that can go on; whether there was one."""
        ready = [thread for thread, items in self._agenda.items() if not items or items[0][0]()]
        if not ready:
            return False
        thread = self.random.choice(ready)
        if self._agenda[thread]:
            self._pop(thread)
        else:
            actions, weights = zip(*self._choices, strict=True)
            self.random.choices(actions, weights)[0](thread)
        return True

    def _pop(self, thread: int) -> None:
        _, event = self._agenda[thread].pop(0)
        self._event(event.kind, thread, event.address, event.size, event.value)
        if event.kind == _K.BARRIER_ARRIVE:
            self._arrived[event.address] = self._arrived.get(event.address, 0) + 1
        elif event.kind == _K.BEGIN:
            self._children[thread] = []
        elif event.kind == _K.END:
            del self._agenda[thread]
            self._ended.add(thread)

    def finish(self) -> None:
        """Let every thread come to its end, and join what can be joined."""
        while self._agenda:
            idle = [thread for thread, items in self._agenda.items() if not items]
            if idle:
                thread = self.random.choice(idle)
                self._release_all(thread)
                if self._children[thread] and self.random.random() < 0.9:
                    self._plan(thread, _K.JOIN, value=self._children[thread].pop(0))
                else:
                    self._plan(thread, _K.END)
            ready = [thread for thread, items in self._agenda.items() if items and items[0][0]()]
            if ready:
                self._pop(self.random.choice(ready))

    def _plan(self, thread: int, kind: _K, address: int = 0, value: int = 0, when=lambda: True):
        if kind == _K.JOIN:
            child = value
            when = lambda: child in self._ended  # noqa: E731
        self._agenda[thread].append((when, ThreadEvent(kind, thread, address, value=value)))

    # Choices of a thread ----------------------------------------------------------------

    def _access(self, thread: int) -> None:
        size = self.random.choice(_SIZES)
        address = _DATA + self.random.randrange(self._addresses)
        self._event(self.random.choice((_K.LOAD, _K.STORE)), thread, address, size)

    def _atomic(self, thread: int) -> None:
        kind, order = self.random.choice(_ATOMIC_KINDS), self.random.choice(list(MemoryOrder))
        address = _ATOMICS + 8 * self.random.randrange(self._objects)
        frame = self.random.choice((0, 1, 2, 1 << 29))
        value = order | frame << ORDER_BITS
        self._event(kind, thread, address, self.random.choice((4, 8)), value)

    def _lock(self, thread: int) -> None:
        item = SyncClass(self.random.randrange(SyncClass.RWLOCK_WRITE + 1))
        address = self._object("mutex" if item == SyncClass.MUTEX else "rwlock")
        if self._locks.is_free(address, item):
            self._event(_K.ACQUIRE, thread, address, value=item)

    def _unlock(self, thread: int) -> None:
        if held := self._locks.held.get(thread):
            address, item = self.random.choice(held)
            self._event(_K.RELEASE, thread, address, value=item)

    def _signal(self, thread: int) -> None:
        name = self.random.choice(("condition", "semaphore", "flag"))
        kind = self.random.choice((_K.ACQUIRE, _K.RELEASE))
        self._event(kind, thread, self._object(name), value=SyncClass[name.upper()])

    def _wait(self, thread: int) -> None:
        """Wait for a condition variable with a mutex that the thread holds."""
        held = self._locks.held.get(thread, [])
        # Who waits with other locks may wait for ever.
        if len(held) == 1 and held[0][1] == SyncClass.MUTEX:
            address, item = held[0]
            self._event(_K.RELEASE, thread, address, value=item)
            free = lambda: self._locks.is_free(address, item)  # noqa: E731
            self._plan(thread, _K.ACQUIRE, address, item, free)
            self._plan(thread, _K.ACQUIRE, self._object("condition"), SyncClass.CONDITION)

    def _barrier(self, thread: int) -> None:
        """Bring together as many idle threads as a barrier wants; it may not be the same ones."""
        number = self.random.randrange(self._objects)
        width, address = 1 + number % 4, _OBJECTS["barrier"] + 8 * number
        others = [other for other, items in self._agenda.items() if not items and other != thread]
        arrived = self._arrived.get(address, 0)
        if len(others) < width - 1 or arrived % width or self._is_awaited(address):
            return
        for member in (thread, *self.random.sample(others, width - 1)):
            self._plan(member, _K.BARRIER_ARRIVE, address, width)
            full = lambda: self._arrived[address] >= arrived + width  # noqa: E731
            self._plan(member, _K.BARRIER_LEAVE, address, width, full)

    def _is_awaited(self, barrier: int) -> bool:
        """Whether a thread has yet to arrive at a barrier."""
        events = [item[1] for items in self._agenda.values() for item in items]
        return any(e.kind == _K.BARRIER_ARRIVE and e.address == barrier for e in events)

    def _create(self, thread: int) -> None:
        if self._created < self._threads:
            child = self._created
            self._created += 1
            self._event(_K.CREATE, thread, value=child)
            self._children[thread].append(child)
            self._agenda[child] = []
            self._plan(child, _K.BEGIN)

    def _join(self, thread: int) -> None:
        """Join a child, which then has ended already more often than not."""
        if self._children[thread] and not self._locks.held.get(thread):
            child = self.random.choice(self._children[thread])
            if child in self._ended or self.random.random() < self._end_rate / 10:
                self._children[thread].remove(child)
                self._plan(thread, _K.JOIN, value=child)

    def _memory(self, thread: int) -> None:
        if self._heap and self.random.random() < 0.5:
            self._event(_K.FREE, thread, self._heap.pop())
        else:
            address = _HEAP + 64 * self.random.randrange(1000)
            self._heap.append(address)
            self._event(_K.ALLOCATE, thread, address, value=self.random.randrange(100))

    def _collect(self, thread: int) -> None:
        self._event(_K.COLLECT_ON if thread in self._off else _K.COLLECT_OFF, thread)
        self._off ^= {thread}

    def _end(self, thread: int) -> None:
        """End a thread, but not the first, and rarely."""
        if thread and self.random.random() < self._end_rate:
            self._release_all(thread)
            self._plan(thread, _K.END)

    def _release_all(self, thread: int) -> None:
        for address, item in tuple(self._locks.held.get(thread, ())):
            self._plan(thread, _K.RELEASE, address, item)


def random_thread_trace(
    seed: int, threads: int = 4, events: int = 300, addresses: int = 256, objects: int = 4
) -> ThreadTrace:
    """A random valid trace, complete: every thread that was created has ended.

    Parameters
    ----------
    seed : int
        Makes the trace; the header has it, too.
    threads : int
        Most threads that are created, the first one included.
    events : int
        Events before the threads are brought to their ends.
    addresses : int
        Bytes among which plain accesses fall: few make many races.
    objects : int
        Synchronisation objects of each class.
    """
    program = _Program(seed, threads, events, addresses, objects)
    while len(program.events) < events and program.step():
        pass
    program.finish()
    header = ThreadTraceHeader(threads=threads, source="random threads", seed=seed)
    return ThreadTrace.from_events(header, program.events)
