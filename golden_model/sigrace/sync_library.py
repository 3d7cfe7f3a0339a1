"""Synchronisation library in Normal mode: the core events of each trace event.

Ref: SigRace (ISCA'09) Section 4.2, Tables 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.happens_before.sync_objects import SyncObjects, Timestamp
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, INSTRUCTION_BITS, SigraceParams
from racetrap.golden_model.sigrace.timestamp import generate_timestamp
from racetrap.golden_model.trace.threads.events import (
    ThreadEvent,
    ThreadEventKind,
    acquires,
    releases,
)

_ADDRESS_MASK = (1 << ADDRESS_BITS) - 1
MAX_INSTRUCTIONS = (1 << INSTRUCTION_BITS) - 1

_SYNC_REACHED = CoreEvent(CoreOp.SYNC_REACHED)
_COLLECT_ON = CoreEvent(CoreOp.COLLECT_ON)
_COLLECT_OFF = CoreEvent(CoreOp.COLLECT_OFF)


class SyncLibrary:
    """Keeps the timestamps of threads and objects, and converts events to core events.

    A plain access is a LOAD or STORE.  A synchronisation runs with collection off: sync_reached
    before a release, whose object then gets the new timestamp, or after an acquire, whose object's
    timestamp the thread's own is then merged with; every counter that this changes is written into
    the core's TS.  Other events become their instructions only.

    Instructions are counted in the first core event of a trace event; excess ones precede it as
    INSTRUCTIONS.

    Parameters
    ----------
    params : SigraceParams
        Range of threads, and widths of counters and PCs.

    Attributes
    ----------
    timestamps : list of list of int
        Timestamp of each thread now.
    log : list of list of tuple
        TS log of each thread: its timestamp after each synchronisation.

    Ref: SigRace (ISCA'09) Table 2.
    """

    def __init__(self, params: SigraceParams) -> None:
        self._params = params
        self._pc_mask = (1 << params.pc_bits) - 1
        self.clear()

    def clear(self) -> None:
        """Begin a program: clear all timestamps."""
        threads = self._params.threads
        self._objects = SyncObjects()
        self._collects = [True] * threads
        self.timestamps = [[0] * threads for _ in range(threads)]
        self.log: list[list[Timestamp]] = [[] for _ in range(threads)]

    def collects(self, thread: int) -> bool:
        """Whether the program wants the accesses of a thread checked at present."""
        return self._collects[thread]

    def events(self, event: ThreadEvent) -> list[CoreEvent]:
        """Events of the core on which the thread runs, in order."""
        kind = event.kind
        if kind <= ThreadEventKind.STORE:
            op = CoreOp.LOAD if kind == ThreadEventKind.LOAD else CoreOp.STORE
            data, pc = event.address & _ADDRESS_MASK, event.pc & self._pc_mask
            return self._counted(event, [CoreEvent(op, data, event.size, pc=pc)])
        if kind in (ThreadEventKind.COLLECT_OFF, ThreadEventKind.COLLECT_ON):
            self._collects[event.thread] = kind == ThreadEventKind.COLLECT_ON
            return self._counted(
                event, [_COLLECT_ON if kind == ThreadEventKind.COLLECT_ON else _COLLECT_OFF]
            )
        actions: list[CoreEvent] = []
        if releases(kind, event.value):
            actions += self._release(event)
        if acquires(kind, event.value, event.thread):
            actions += self._acquire(event)
        if actions and self._collects[event.thread]:
            actions = [_COLLECT_OFF, *actions, _COLLECT_ON]
        return self._counted(event, actions)

    def _counted(self, event: ThreadEvent, actions: list[CoreEvent]) -> list[CoreEvent]:
        """Core events of a trace event, with its instructions."""
        left = event.instructions
        if not left:
            return actions
        ahead = []
        while left > (MAX_INSTRUCTIONS if actions else 0):
            share = min(left, MAX_INSTRUCTIONS)
            ahead.append(CoreEvent(CoreOp.INSTRUCTIONS, instructions=share))
            left -= share
        if actions:
            actions[0] = actions[0]._replace(instructions=left)
        return ahead + actions

    def _release(self, event: ThreadEvent) -> list[CoreEvent]:
        """SN_UNLOCK of Table 2: the new timestamp is stored with the object."""
        stamp = self._step(event.thread)
        self._objects.release(event, tuple(stamp))
        self.log[event.thread].append(tuple(stamp))
        return [_SYNC_REACHED]

    def _acquire(self, event: ThreadEvent) -> list[CoreEvent]:
        """SN_LOCK of Table 2: GenerateTS is the maximum of each counter but the own."""
        thread = event.thread
        stamp = self._step(thread)
        merged: Sequence[int] = stamp
        for learned in self._objects.acquire(event):
            merged = generate_timestamp(merged, learned, thread)
        writes = [
            CoreEvent(CoreOp.TS_WRITE, value, index=index)
            for index, value in enumerate(merged)
            if value != stamp[index]
        ]
        stamp[:] = merged
        self.log[thread].append(tuple(stamp))
        return [_SYNC_REACHED, *writes]

    def _step(self, thread: int) -> list[int]:
        """Timestamp of a thread after sync_reached."""
        stamp = self.timestamps[thread]
        stamp[thread] = min(stamp[thread] + 1, self._params.max_counter)
        return stamp
