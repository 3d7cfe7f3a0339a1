"""Timelines of races between threads: locks, signals, barriers, atomics, begins and ends of
threads beside the two accesses."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.happens_before.race_context import RaceContext
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
    ThreadTraceHeader,
    acquires,
    releases,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.verdict.line_pairs import place_of
from racetrap.verdict.timeline import Moment, Sort, Timeline
from racetrap.verdict.tracks import Track, near, timeline_of_tracks

_KIND = ThreadEventKind
_ACCESSES = (
    _KIND.LOAD, _KIND.STORE, _KIND.ATOMIC_LOAD, _KIND.ATOMIC_STORE, _KIND.ATOMIC_UPDATE,
)  # fmt: skip
_OBJECTS = (_KIND.ACQUIRE, _KIND.RELEASE, _KIND.BARRIER_ARRIVE, _KIND.BARRIER_LEAVE)
_THREADS = (_KIND.CREATE, _KIND.JOIN)
#: What neither accesses memory that others see nor orders anything.
_OTHERS = (_KIND.ALLOCATE, _KIND.FREE, _KIND.COLLECT_OFF, _KIND.COLLECT_ON)
_SYNC_WORDS = {
    SyncClass.MUTEX: ("lock", "unlock"), SyncClass.RWLOCK_READ: ("read lock", "read unlock"),
    SyncClass.RWLOCK_WRITE: ("write lock", "write unlock"),
    SyncClass.CONDITION: ("condition wait", "signal"),
    SyncClass.SEMAPHORE: ("semaphore wait", "semaphore post"),
    SyncClass.FLAG: ("wait for flag", "set flag"),
}  # fmt: skip
_WORDS = {
    _KIND.LOAD: "load", _KIND.STORE: "store", _KIND.ATOMIC_LOAD: "atomic load",
    _KIND.ATOMIC_STORE: "atomic store", _KIND.ATOMIC_UPDATE: "atomic update",
    _KIND.BARRIER_ARRIVE: "arrive at barrier", _KIND.BARRIER_LEAVE: "leave barrier",
    _KIND.BEGIN: "thread begins", _KIND.END: "thread ends", _KIND.CREATE: "create thread",
    _KIND.JOIN: "join thread",
}  # fmt: skip
_ORDERING = ("kind", "value", "thread")


def timeline_of(race: ThreadRace, context: RaceContext, trace: ThreadTrace) -> Timeline | None:
    """What both threads of a race did around their accesses; ``None`` if these are not found.

    Parameters
    ----------
    race : ThreadRace
        A race in the trace.
    context : RaceContext
        Its context.
    trace : ThreadTrace
        The trace.
    """
    accesses = context.first_event, context.second_event
    if min(accesses) < 0:
        return None
    held = [
        {lock.address: lock.sync_class for lock in locks}
        for locks in (context.first, context.second)
    ]
    order = (0, 1) if accesses[0] < accesses[1] else (1, 0)
    tracks = [
        _Thread(accesses[one], trace, held[one], held[1 - one], accesses[1 - one]) for one in order
    ]
    parties = race.first, race.second
    earlier, later = (f"thread {parties[one].thread}" for one in order)
    timeline = timeline_of_tracks(tracks, (earlier, later))
    return replace(timeline, moments=tuple(_with_lacks(timeline, trace.events, max(accesses))))


def _with_lacks(timeline: Timeline, events: np.ndarray, last: int) -> Iterator[Moment]:
    """Moments, with what atomics lack that hand over something between the accesses."""
    ends = {0: set[int](), 1: set[int]()}
    begun = next(each.event for each in timeline.moments if each.is_access)
    for source, target in timeline.messages:
        if begun < timeline.moments[source].event and timeline.moments[target].event < last:
            ends[0].add(source)
            ends[1].add(target)
    for number, moment in enumerate(timeline.moments):
        kind, value, thread = (int(events[moment.event][name]) for name in _ORDERING)
        if number in ends[0] and not releases(kind, value):
            moment = moment._replace(lack="no release")
        if number in ends[1] and not acquires(kind, value, thread):
            moment = moment._replace(lack="no acquire")
        yield moment


class _Thread(Track):
    """One of the two threads of a race.

    Parameters
    ----------
    access : int
        Event of its access.
    trace : ThreadTrace
        The trace.
    held, other_held : mapping of int to SyncClass
        Locks that it holds at its access, and those that the other thread holds at its own.
    other : int
        Event of the other access.
    """

    def __init__(
        self, access: int, trace: ThreadTrace, held: Mapping[int, SyncClass],
        other_held: Mapping[int, SyncClass], other: int,
    ) -> None:  # fmt: skip
        self._events, self._header = trace.events, trace.header
        self._lack = _lock_lack(held, other_held)
        begin, window = near(trace.events, access)
        thread, other_thread = (trace.events["thread"][each] for each in (access, other))
        rows = np.flatnonzero(window["thread"] == thread)
        records, events = window[rows], rows + begin
        kind, value = records["kind"], records["value"]
        # Accesses are distinguished by instruction; others also by their object or thread.
        instructions = records["pc"].astype(np.int64) << 8 | kind
        others = np.flatnonzero(~np.isin(kind, _ACCESSES))
        objects = np.where(np.isin(kind, _THREADS), value, records["address"])[others]
        keys = np.stack([instructions[others].astype(np.uint64), objects.astype(np.uint64)], 1)
        instructions[others] = -1 - np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        named = self._named_locks(records, events < access, held, other_held)
        named |= np.isin(kind, _THREADS) & (value == other_thread)
        if held:
            of_held = events[named & np.isin(records["address"], _addresses(held))]
            begun, ended = of_held[of_held < access].tolist(), of_held[of_held > access].tolist()
            self.band = min(begun, default=None), max(ended, default=None), "lock held"
        may_order = (kind > _KIND.STORE) & ~np.isin(kind, _OTHERS)
        may_order &= (kind != _KIND.CREATE) | named
        # Its own begin and end order only what the thread does that creates or joins it.
        for life, by in ((_KIND.BEGIN, _KIND.CREATE), (_KIND.END, _KIND.JOIN)):
            is_by = (window["kind"] == by) & (window["value"] == thread)
            if not np.any(is_by & (window["thread"] == other_thread)):
                may_order &= kind != life
        super().__init__(access, events, instructions, may_order, named)

    @staticmethod
    def _named_locks(
        records: np.ndarray, is_before: np.ndarray, held: Mapping[int, SyncClass],
        other_held: Mapping[int, SyncClass],
    ) -> np.ndarray:  # fmt: skip
        """Where the thread took the locks that it holds and releases them, and what it does with
        others that only the other thread holds."""
        kind, address = records["kind"], records["address"]
        is_lock = np.isin(kind, (_KIND.ACQUIRE, _KIND.RELEASE))
        named = is_lock & np.isin(address, _addresses(other_held.keys() - held))
        for lock in _addresses(held):
            own = is_lock & (address == lock)
            named[np.flatnonzero(own & is_before & (kind == _KIND.ACQUIRE))[-1:]] = True
            named[np.flatnonzero(own & ~is_before & (kind == _KIND.RELEASE))[:1]] = True
        return named

    def sent(self, event: int) -> Hashable:
        """Object or location that an event hands over, or the thread that begins or has ended."""
        record = self._events[event]
        kind = record["kind"]
        if kind == _KIND.CREATE:
            return "begin", int(record["value"])
        if kind == _KIND.END:
            return "end", int(record["thread"])
        writes = kind in (_KIND.ATOMIC_STORE, _KIND.ATOMIC_UPDATE)
        if writes or releases(kind, record["value"]):
            return "object", int(record["address"])
        return None

    def received(self, event: int) -> Hashable:
        """The same, of what an event takes over."""
        record = self._events[event]
        kind, thread = record["kind"], int(record["thread"])
        if kind == _KIND.BEGIN:
            return "begin", thread
        if kind == _KIND.JOIN:
            return "end", int(record["value"])
        reads = kind in (_KIND.ATOMIC_LOAD, _KIND.ATOMIC_UPDATE)
        if reads or acquires(kind, record["value"], thread):
            return "object", int(record["address"])
        return None

    def moment(self, event: int, side: int) -> Moment:
        """An event in words, with what it accesses."""
        record = self._events[event]
        kind = ThreadEventKind(record["kind"])
        sort = Sort.ATOMIC if kind in ATOMIC_KINDS else Sort.ACCESS
        if kind not in _ACCESSES:
            sort = Sort.ORDER
        pc = int(record["pc"])
        place = place_of(pc, self._header.locations) if pc else ""
        has_object = kind in _ACCESSES or kind in _OBJECTS
        name = _object_name(int(record["address"]), self._header) if has_object else ""
        lack = self._lack * (event == self.access)
        return Moment(event, (side,), _words(record), name, place, sort, lack=lack)


def _addresses(locks: Collection[int]) -> np.ndarray:
    """Addresses of locks, as events have them."""
    return np.array([*locks], np.uint64)


def _lock_lack(held: Mapping[int, SyncClass], other_held: Mapping[int, SyncClass]) -> str:
    """What the locks of a thread lack, as far as the other thread has some."""
    if not other_held:
        return ""
    if common := held.keys() & other_held:
        # Only a lock of readers is held by two threads.
        return "only read lock" * (SyncClass.RWLOCK_WRITE not in {held[each] for each in common})
    return "other lock" if held else "no lock"


def _words(record: np.void) -> str:
    """An event in words."""
    kind, value = ThreadEventKind(record["kind"]), int(record["value"])
    if kind in (_KIND.ACQUIRE, _KIND.RELEASE):
        return _SYNC_WORDS[SyncClass(value)][kind == _KIND.RELEASE]
    if kind in ATOMIC_KINDS:
        order = MemoryOrder(value % len(MemoryOrder))
        return f"{order.name.lower().replace('_', '-')} {_WORDS[kind]}"
    return f"{_WORDS[kind]} {value}" if kind in _THREADS else _WORDS[kind]


def _object_name(address: int, header: ThreadTraceHeader) -> str:
    """Name of the variable at an address, with the byte in it; the address if it has none."""
    for first, variable in header.variables_at(address).items():
        if first <= address < first + variable.size:
            return variable.name + f", byte {address - first}" * (address > first)
    return f"{address:#x}"
