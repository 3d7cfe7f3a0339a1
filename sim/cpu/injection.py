"""Injected data races: one dynamic synchronisation removed from a recorded trace.

Ref: SigRace (ISCA'09) Section 5.4.1 ("we randomly eliminate one dynamic lock-unlock pair or one
dynamic barrier").
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from random import Random
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
_LOCKS = (SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)


class RemovalKind(StrEnum):
    """Kind of synchronisation to remove."""

    LOCK = "lock"
    BARRIER = "barrier"


class Removal(NamedTuple):
    """A dynamic synchronisation that can be removed.

    Parameters
    ----------
    kind : RemovalKind
        LOCK: an acquire and the same thread's next release.  BARRIER: a crossing, by all threads.
    address : int
        The lock, or the barrier.
    thread : int
        LOCK: the thread.  BARRIER: the thread that arrives first.
    pc : int
        Instruction of its first event.
    events : tuple of int
        Numbers of the events, ascending.
    """

    kind: RemovalKind
    address: int
    thread: int
    pc: int
    events: tuple[int, ...]


class Injection(NamedTuple):
    """A trace without one of its synchronisations.

    Parameters
    ----------
    trace : ThreadTrace
        The remaining valid trace.
    removal : Removal
        The synchronisation removed.
    location : str
        Place of its first event in the program's source; empty if the trace has none.
    """

    trace: ThreadTrace
    removal: Removal
    location: str

    def __str__(self) -> str:
        what = self.removal
        place = self.location or f"pc {what.pc:#x}"
        if what.kind is RemovalKind.LOCK:
            return f"lock {what.address:#x} taken at {place} by thread {what.thread}"
        return f"crossing of barrier {what.address:#x} at {place}"


def removable(trace: ThreadTrace) -> list[Removal]:
    """All dynamic lock/unlock pairs and barrier crossings, in the order of their first events.

    A wait for a condition variable releases its mutex and acquires it again: these are ends of
    pairs as well.  A lock held until the trace ends is in no pair, and a crossing that not all
    threads leave cannot be removed.
    """
    return sorted(_lock_pairs(trace) + _crossings(trace), key=lambda removal: removal.events)


def remove(trace: ThreadTrace, removal: Removal) -> Injection:
    """Remove one synchronisation from a trace.

    The instructions of the events are added to the next events of their threads, so that the others
    keep their distance.
    """
    kept = np.ones(len(trace.events), bool)
    kept[list(removal.events)] = False
    events = trace.events.copy()
    for number in removal.events:
        later = np.flatnonzero(events["thread"][number + 1 :] == events["thread"][number])
        if len(later):
            events["instructions"][number + 1 + later[0]] += events["instructions"][number]
    location = trace.header.locations.get(removal.pc, "")
    return Injection(ThreadTrace(trace.header, events[kept]), removal, location)


def inject(trace: ThreadTrace, seed: int) -> Injection | None:
    """Remove a synchronisation chosen uniformly at random.

    Parameters
    ----------
    trace : ThreadTrace
        A trace.
    seed : int
        Seed of the choice.

    Returns
    -------
    Injection or None
        None if the trace has neither a lock/unlock pair nor a barrier crossing.
    """
    candidates = removable(trace)
    if not candidates:
        return None
    return remove(trace, Random(f"injection {seed}").choice(candidates))


def _lock_pairs(trace: ThreadTrace) -> list[Removal]:
    """Each acquire of a lock with the same thread's next release of it."""
    open_: dict[tuple[int, int], int] = {}
    pairs = []
    for number, kind, thread, address, value, pc in _rows(trace, (_KIND.ACQUIRE, _KIND.RELEASE)):
        if value not in _LOCKS:
            continue
        if kind == _KIND.ACQUIRE:
            open_[thread, address] = number
        else:
            start = open_.pop((thread, address))
            pc = int(trace.events["pc"][start])
            pairs.append(Removal(RemovalKind.LOCK, address, thread, pc, (start, number)))
    return pairs


def _crossings(trace: ThreadTrace) -> list[Removal]:
    """Each complete crossing of a barrier."""
    arrivals: defaultdict[int, int] = defaultdict(int)
    crossing: dict[tuple[int, int], int] = {}
    episodes: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    widths = {}
    for number, kind, thread, address, width, _ in _rows(
        trace, (_KIND.BARRIER_ARRIVE, _KIND.BARRIER_LEAVE)
    ):
        if kind == _KIND.BARRIER_ARRIVE:
            crossing[thread, address] = arrivals[address] // width
            arrivals[address] += 1
        episodes[address, crossing[thread, address]].append(number)
        widths[address] = width
    crossings = []
    for (address, _), numbers in episodes.items():
        if len(numbers) == 2 * widths[address]:
            first = trace.events[numbers[0]]
            crossings.append(
                Removal(
                    RemovalKind.BARRIER,
                    address,
                    int(first["thread"]),
                    int(first["pc"]),
                    tuple(numbers),
                )
            )
    return crossings


def _rows(
    trace: ThreadTrace, kinds: tuple[ThreadEventKind, ...]
) -> list[tuple[int, int, int, int, int, int]]:
    """Number, kind, thread, address, value and PC of all events of some kinds."""
    numbers = np.flatnonzero(np.isin(trace.events["kind"], kinds))
    events = trace.events[numbers]
    columns = (events[name].tolist() for name in ("kind", "thread", "address", "value", "pc"))
    return list(zip(numbers.tolist(), *columns, strict=True))
