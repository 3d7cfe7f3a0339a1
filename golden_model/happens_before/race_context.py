"""Context of a race: the locks that each thread held, and where the memory was allocated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import (
    GRANULE_BYTES,
    WRITE_KINDS,
    SyncClass,
    ThreadEventKind,
    frame_of,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
#: Events examined in one step.
_BLOCK = 1 << 20
_LOCKS = (SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)


class HeldLock(NamedTuple):
    """A lock that a thread holds.

    Parameters
    ----------
    address : int
        The lock.
    sync_class : SyncClass
        Its class, and how it is held.
    pc : int
        Where the thread acquired it.
    """

    address: int
    sync_class: SyncClass
    pc: int


class Allocation(NamedTuple):
    """A block of the heap.

    Parameters
    ----------
    address, size : int
        Its first byte, and its bytes.
    thread, pc : int
        Thread that allocated it, and where.
    """

    address: int
    size: int
    thread: int
    pc: int


class RaceContext(NamedTuple):
    """Context of a race besides its accesses.

    Parameters
    ----------
    first, second : tuple of HeldLock
        Locks that the threads of its accesses held, by address.
    allocation : Allocation or None
        Block that both access; None if it is not on the heap.
    first_frame, second_frame : int
        Frames of the accesses, if the header has them; 0 if unknown.
    first_event, second_event : int
        Numbers of the accesses in the trace; -1 if they are not there.
    """

    first: tuple[HeldLock, ...]
    second: tuple[HeldLock, ...]
    allocation: Allocation | None
    first_frame: int = 0
    second_frame: int = 0
    first_event: int = -1
    second_event: int = -1


class RaceContexts:
    """Contexts of races in a trace.

    Parameters
    ----------
    trace : ThreadTrace
        The trace.
    """

    def __init__(self, trace: ThreadTrace) -> None:
        # All events but accesses: few.
        self._rows = np.flatnonzero(trace.events["kind"] > _KIND.STORE)
        self._trace, self._events = trace.events, trace.events[self._rows]
        found = event_epochs(self._events)
        self._epochs = found.epoch + found.steps
        kind, value = self._events["kind"], self._events["value"]
        is_lock = np.isin(kind, (_KIND.ACQUIRE, _KIND.RELEASE)) & np.isin(value, _LOCKS)
        self._locks = np.flatnonzero(is_lock)
        self._blocks = np.flatnonzero(kind == _KIND.ALLOCATE)

    def of(self, race: ThreadRace) -> RaceContext:
        """Context of a race."""
        end = min(self._end(race.first), self._end(race.second))
        events = [self._access(party, race.address) for party in (race.first, race.second)]
        return RaceContext(
            self._held(race.first), self._held(race.second), self._block(race.address, end),
            *map(self._frame, events), *events,
        )  # fmt: skip

    def _held(self, party: RaceParty) -> tuple[HeldLock, ...]:
        """Locks that a thread holds throughout an epoch."""
        own = self._events["thread"][self._locks] == party.thread
        events = self._events[self._locks[own & (self._epochs[self._locks] <= party.epoch)]]
        steps = np.where(events["kind"] == _KIND.ACQUIRE, 1, -1)
        held = []
        # A lock is acquired and released in turn; only read locks can be held more than once.
        for address, value in sorted(
            set(zip(events["address"].tolist(), events["value"].tolist(), strict=True))
        ):
            same = (events["address"] == address) & (events["value"] == value)
            if steps[same].sum() > 0:
                last = events[same & (steps > 0)][-1]
                held.append(HeldLock(address, SyncClass(value), int(last["pc"])))
        return tuple(held)

    def _end(self, party: RaceParty) -> int:
        """Position of the end of an epoch among events that are not accesses."""
        after = (self._events["thread"] == party.thread) & (self._epochs > party.epoch)
        rows = np.flatnonzero(after)
        return int(rows[0]) if len(rows) else len(self._events)

    def _frame(self, event: int) -> int:
        """Frame of an access."""
        if event < 0:
            return 0
        record = self._trace[event]
        return int(frame_of(record["kind"], record["value"]))

    def _access(self, party: RaceParty, address: int) -> int:
        """The first such access of a granule in an epoch; -1 if there is none."""
        own = self._events["thread"] == party.thread
        begun = self._rows[own & (self._epochs >= party.epoch)] if party.epoch else [-1]
        ended = self._rows[own & (self._epochs > party.epoch)]
        # An atomic access that ends an epoch is in it, one that begins an epoch is not.
        first = int(begun[0]) + 1
        last = int(ended[0]) + 1 if len(ended) else len(self._trace)
        for start in range(first, last, _BLOCK):
            events = self._trace[start : min(start + _BLOCK, last)]
            rows = np.flatnonzero((events["pc"] == party.pc) & (events["thread"] == party.thread))
            events = events[rows]
            kind = events["kind"]
            there = (kind <= _KIND.ATOMIC_UPDATE) & (np.isin(kind, WRITE_KINDS) == party.is_write)
            there &= events["address"] < address + GRANULE_BYTES
            there &= events["address"] + events["size"] > address
            if there.any():
                return start + int(rows[there.argmax()])
        return -1

    def _block(self, address: int, end: int) -> Allocation | None:
        """The block at an address that was allocated last before a position."""
        rows = self._blocks[: np.searchsorted(self._blocks, end)]
        blocks = self._events[rows]
        stop = blocks["address"] + blocks["value"].astype(np.uint64)
        around = (blocks["address"] < address + GRANULE_BYTES) & (stop > address)
        if not around.any():
            return None
        last = blocks[around][-1]
        return Allocation(*(int(last[name]) for name in ("address", "value", "thread", "pc")))
