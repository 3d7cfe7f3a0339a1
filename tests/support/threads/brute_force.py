"""Races by reachability in the graph of all events: slow, and obviously right.

An edge leads from each event to its thread's next, and from every release to every later acquire
of what it released; locks alone make that an order, so nothing has to be overwritten.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    epoch_steps,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
_WRITES = (_KIND.STORE, _KIND.ATOMIC_STORE, _KIND.ATOMIC_UPDATE)


def _released(event: ThreadEvent) -> list[object]:
    kind, _, address, _, value = event[:5]
    if kind == _KIND.RELEASE:
        return [("object", address, value)]
    if kind == _KIND.CREATE:
        return [("child", value)]
    if kind == _KIND.END:
        return [("end", event.thread)]
    if kind in (_KIND.ATOMIC_STORE, _KIND.ATOMIC_UPDATE) and value & 2:
        return [("atomic", address)]
    return []


def _acquired(event: ThreadEvent) -> list[object]:
    kind, _, address, _, value = event[:5]
    if kind == _KIND.ACQUIRE:
        classes = {
            SyncClass.RWLOCK_READ: [SyncClass.RWLOCK_WRITE],
            SyncClass.RWLOCK_WRITE: [SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE],
        }
        return [("object", address, name) for name in classes.get(value, [value])]
    if kind == _KIND.BEGIN:
        return [("child", event.thread)]
    if kind == _KIND.JOIN:
        return [("end", value)]
    if kind in (_KIND.ATOMIC_LOAD, _KIND.ATOMIC_UPDATE) and value & 1:
        return [("atomic", address)]
    return []


def _ancestors(events: list[ThreadEvent]) -> list[int]:
    """For each event a mask of all events before it."""
    before: list[int] = []
    last: dict[int, int] = {}
    releases: defaultdict[object, int] = defaultdict(int)
    arrivals: Counter[int] = Counter()
    crossed: dict[tuple[int, int], int] = {}
    for number, event in enumerate(events):
        mask = last.get(event.thread, 0)
        released, acquired = _released(event), _acquired(event)
        if event.kind == _KIND.BARRIER_ARRIVE:
            crossed[event.thread, event.address] = arrivals[event.address] // event.value
            arrivals[event.address] += 1
            released = [("barrier", event.address, crossed[event.thread, event.address])]
        if event.kind == _KIND.BARRIER_LEAVE:
            acquired = [("barrier", event.address, crossed[event.thread, event.address])]
        for name in acquired:
            mask |= releases[name]
        before.append(mask)
        last[event.thread] = mask | 1 << number
        for name in released:
            releases[name] |= last[event.thread]
    return before


def _accesses(events: list[ThreadEvent]) -> list[tuple[int, int, int, int, RaceParty]]:
    """Event, granule, bytes used of it, its life, and the party, of all checked accesses."""
    found = []
    off: set[int] = set()
    lives: dict[int, int] = {}
    epochs: Counter[int] = Counter()
    for number, event in enumerate(events):
        kind, thread, address, size, value, pc, _ = event
        if kind in (_KIND.COLLECT_OFF, _KIND.COLLECT_ON):
            off ^= {thread}
        elif kind == _KIND.ALLOCATE:
            lives.update(dict.fromkeys(range(address // 4, (address + value + 3) // 4), number))
        elif kind <= _KIND.ATOMIC_UPDATE and thread not in off:
            party = RaceParty(thread, epochs[thread], pc, kind in _WRITES)
            for granule in range(address // 4, (address + size - 1) // 4 + 1):
                used = sum(1 << b for b in range(4) if address <= granule * 4 + b < address + size)
                found.append((number, granule, used, lives.get(granule, -1), party))
        epochs[thread] += epoch_steps(kind, value, thread)
    return found


def brute_force_races(trace: ThreadTrace) -> dict[ThreadRace, tuple[bool, bool]]:
    """Each pair that races or shares only its granule, with whether some of its accesses share a
    byte, and whether some of those are plain."""
    events = list(trace)
    before, accesses = _ancestors(events), _accesses(events)
    races: dict[ThreadRace, tuple[bool, bool]] = {}
    for index, (later, granule, used, life, party) in enumerate(accesses):
        for earlier, other_granule, other_used, other_life, other in accesses[:index]:
            if (granule, life) != (other_granule, other_life) or before[later] >> earlier & 1:
                continue
            atomic = [events[number].kind in ATOMIC_KINDS for number in (earlier, later)]
            if party.thread == other.thread or all(atomic):
                continue
            if not (party.is_write or other.is_write):
                continue
            race = ThreadRace.of(granule * 4, party, other)
            seen = races.get(race, (False, False))
            shares = bool(used & other_used)
            races[race] = (seen[0] or shares, seen[1] or (shares and not any(atomic)))
    return races
