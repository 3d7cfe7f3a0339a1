"""Scheduler of an operating system: puts threads on contexts, and takes them off.

The running thread whose next event is the earliest in the trace continues.  If that event waits for
a thread that is not running, its thread leaves its context; so there is always progress: the
earliest event of all never waits.

Ref: SigRace (ISCA'09) Section 4.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace
from random import Random

from racetrap.golden_model.sigrace.environment import (
    OWN,
    Command,
    CoreCommand,
    Environment,
    Remap,
    Slot,
)
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.sync_library import SyncLibrary
from racetrap.golden_model.trace.threads.replay_order import SyncOrder, ThreadCursor, thread_cursors
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace


class Scheduler:
    """Plays a trace on fewer contexts than threads, or with threads that move.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    library : SyncLibrary
        Converts events to core events; holds the timestamps to restore.
    slots : list of (core, context)
        Contexts in use.
    environment : Environment
        Not ``fixed``.
    """

    def __init__(
        self,
        trace: ThreadTrace,
        library: SyncLibrary,
        slots: list[Slot],
        environment: Environment,
    ) -> None:
        self._library, self._slots = library, slots
        self._moves, self._quantum = environment.name == "migration", environment.quantum
        self._random = Random(environment.seed)
        self._order = SyncOrder(trace)
        self._waiting = deque(cursor for cursor in thread_cursors(trace) if cursor.number >= 0)
        self._running: dict[Slot, ThreadCursor] = {}
        self._budget: dict[Slot, int] = {}
        #: Next event of every running thread, the earliest first.
        self._next: list[tuple[int, Slot]] = []
        #: Whether a waiting thread may have become ready since the last look.
        self._is_stale = True

    def commands(self) -> Iterator[Command]:
        """The whole program."""
        for slot in self._slots:
            yield CoreCommand(*slot, CoreEvent(CoreOp.RESET), OWN)
            yield CoreCommand(*slot, CoreEvent(CoreOp.MODE, Mode.NORMAL), OWN)
        while self._running or self._waiting:
            yield from self._fill()
            number, slot = self._next[0]
            if self._order.is_ready(number):
                yield from self._play(slot)
            else:
                yield from self._leave(slot)

    def _play(self, slot: Slot) -> Iterator[Command]:
        """Play one event of the thread on a context, and the scheduler's reaction."""
        cursor = self._running[slot]
        number, event = cursor.number, cursor.event
        for core_event in self._library.events(event):
            yield CoreCommand(*slot, core_event, number)
        if self._order.happen(number):
            self._is_stale = True
        cursor.step()
        if cursor.number < 0:
            yield from self._leave(slot)
            return
        heapreplace(self._next, (cursor.number, slot))
        # Quanta end also in traces without instruction counts.
        self._budget[slot] -= event.instructions or 1
        if self._budget[slot] <= 0:
            yield from self._move(slot) if self._moves else self._take_turns(slot)

    # Scheduling -------------------------------------------------------------------------

    def _fill(self) -> Iterator[Command]:
        """Put waiting threads that can run on free contexts."""
        if not self._is_stale or not self._waiting or len(self._running) == len(self._slots):
            return
        for slot in self._slots:
            if slot not in self._running:
                cursor = self._first_ready()
                if cursor is None:
                    break
                yield from self._switch_in(slot, cursor)
        self._is_stale = False
        self._sort()

    def _first_ready(self) -> ThreadCursor | None:
        """Take the longest-waiting thread that can run."""
        for cursor in self._waiting:
            if self._order.is_ready(cursor.number):
                self._waiting.remove(cursor)
                return cursor
        return None

    def _leave(self, slot: Slot) -> Iterator[Command]:
        """Free the context of the earliest thread, which waits or has ended."""
        heappop(self._next)
        cursor = self._running[slot]
        yield from self._switch_out(slot)
        if cursor.number >= 0:
            self._waiting.append(cursor)
        self._is_stale = True

    def _take_turns(self, slot: Slot) -> Iterator[Command]:
        """End of a quantum: another thread's turn, if one can run."""
        cursor, other = self._running[slot], self._first_ready()
        if other is None:
            self._budget[slot] = self._new_budget()
            return
        yield from self._switch_out(slot)
        self._waiting.append(cursor)
        yield from self._switch_in(slot, other)
        self._sort()

    def _move(self, slot: Slot) -> Iterator[Command]:
        """End of a quantum: the thread swaps contexts with another."""
        others = [other for other in self._slots if other != slot]
        if not others:
            self._budget[slot] = self._new_budget()
            return
        other = self._random.choice(others)
        cursor, displaced = self._running[slot], self._running.get(other)
        yield from self._switch_out(slot)
        if displaced:
            yield from self._switch_out(other)
            yield from self._switch_in(slot, displaced)
        yield from self._switch_in(other, cursor)
        self._sort()

    def _sort(self) -> None:
        self._next = [(cursor.number, slot) for slot, cursor in self._running.items()]
        heapify(self._next)

    def _new_budget(self) -> int:
        """Instructions of a quantum: from half to one and a half of the mean."""
        return self._random.randint((self._quantum + 1) // 2, self._quantum + self._quantum // 2)

    # Context switches -------------------------------------------------------------------

    def _switch_out(self, slot: Slot) -> Iterator[Command]:
        """Take a thread off its context; its block ends."""
        del self._running[slot]
        yield CoreCommand(*slot, CoreEvent(CoreOp.COLLECT_OFF), OWN)
        yield CoreCommand(*slot, CoreEvent(CoreOp.SWITCH_OUT), OWN)
        yield Remap(*slot, None)

    def _switch_in(self, slot: Slot, cursor: ThreadCursor) -> Iterator[Command]:
        """Put a thread on a context, and restore its timestamp."""
        thread = cursor.thread
        self._running[slot], self._budget[slot] = cursor, self._new_budget()
        yield Remap(*slot, thread)
        yield CoreCommand(*slot, CoreEvent(CoreOp.SWITCH_IN, index=thread), OWN)
        for index, value in enumerate(self._library.timestamps[thread]):
            yield CoreCommand(*slot, CoreEvent(CoreOp.TS_WRITE, value, index=index), OWN)
        if self._library.collects(thread):
            yield CoreCommand(*slot, CoreEvent(CoreOp.COLLECT_ON), OWN)
