"""Injection: what may be removed, that every choice comes up, and what is left."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEvent, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.injection import RemovalKind, inject, removable, remove
from racetrap.sim.cpu.random_run import random_run, trace_of

K = ThreadEventKind
LOCK, BARRIER, X = 0x50, 0x90, 0x1000


def event(kind: int, thread: int, **fields: int) -> ThreadEvent:
    return ThreadEvent(kind, thread, **{"pc": 5, "instructions": 10, **fields})


def section(thread: int, sync_class: int = SyncClass.MUTEX) -> list[ThreadEvent]:
    return [
        event(K.ACQUIRE, thread, address=LOCK, value=sync_class, pc=10 + thread),
        event(K.STORE, thread, address=X, size=4),
        event(K.RELEASE, thread, address=LOCK, value=sync_class),
    ]


def crossing(threads: int) -> list[ThreadEvent]:
    return [
        event(kind, thread, address=BARRIER, value=threads)
        for kind in (K.BARRIER_ARRIVE, K.BARRIER_LEAVE)
        for thread in range(threads)
    ]


def with_locations(trace: ThreadTrace) -> ThreadTrace:
    header = trace.header.__class__(threads=trace.header.threads, locations={11: "main.c:7"})
    return ThreadTrace(header, trace.events)


def test_a_lock_removed_makes_a_race() -> None:
    trace = with_locations(trace_of(2, *section(0), *section(1)))
    assert HappensBefore().run(trace).races == []
    for removal, thread in zip(removable(trace), (0, 1), strict=True):
        injection = remove(trace, removal)
        assert removal.kind is RemovalKind.LOCK
        assert (removal.address, removal.thread, removal.pc) == (LOCK, thread, 10 + thread)
        assert len(HappensBefore().run(injection.trace).races) == 1
        assert len(injection.trace) == len(trace) - 2
        assert injection.location == ("", "main.c:7")[thread]


def test_injections_say_what_they_are() -> None:
    trace = with_locations(trace_of(2, *section(0), *section(1), *crossing(2)))
    texts = [str(remove(trace, removal)) for removal in removable(trace)]
    assert texts == [
        "lock 0x50 taken at pc 0xa by thread 0",
        "lock 0x50 taken at main.c:7 by thread 1",
        "crossing of barrier 0x90 at pc 0x5",
    ]


def test_a_crossing_is_removed_for_all_threads() -> None:
    stores = [event(K.STORE, 0, address=X, size=4), event(K.LOAD, 2, address=X, size=4)]
    trace = trace_of(3, *crossing(3), stores[0], *crossing(3), stores[1])
    removals = removable(trace)
    assert [len(removal.events) for removal in removals] == [6, 6]
    races = [len(HappensBefore().run(remove(trace, one).trace).races) for one in removals]
    assert races == [0, 1]


def test_what_has_no_partner_stays() -> None:
    trace = trace_of(2, section(0)[0], *crossing(2)[:3], event(K.RELEASE, 1, value=SyncClass.FLAG))
    assert removable(trace) == []
    assert inject(trace, 1) is None


def test_readers_of_one_lock_are_told_apart() -> None:
    read = SyncClass.RWLOCK_READ
    first, second = section(0, read), section(1, read)
    trace = trace_of(2, first[0], second[0], first[2], second[2])
    start = len(trace) - 4
    events = [removal.events for removal in removable(trace)]
    assert events == [(start, start + 2), (start + 1, start + 3)]


def test_a_condition_wait_divides_its_section() -> None:
    wait = [
        event(K.RELEASE, 0, address=LOCK), event(K.ACQUIRE, 0, address=LOCK),
        event(K.ACQUIRE, 0, address=0x60, value=SyncClass.CONDITION),
    ]  # fmt: skip
    first = section(0)
    assert len(removable(trace_of(1, *first[:2], *wait, first[2]))) == 2


def test_instructions_stay() -> None:
    ends = [event(K.END, thread) for thread in (0, 1)]
    trace = trace_of(2, *section(0), *crossing(2), *section(1), *ends)
    before = trace.events["instructions"].sum()
    for removal in removable(trace):
        assert remove(trace, removal).trace.events["instructions"].sum() == before


@pytest.mark.parametrize("seed", range(30))
def test_random_runs_stay_valid(seed: int) -> None:
    trace = random_run(seed, threads=2 + seed % 4, sync=0.6)
    removals = removable(trace)
    assert removals
    injection = inject(trace, seed)
    assert injection is not None
    assert injection.removal in removals
    assert inject(trace, seed) == injection
    kept = np.delete(trace.events, list(injection.removal.events))
    others = [name for name in kept.dtype.names if name != "instructions"]
    for name in others:
        assert (injection.trace.events[name] == kept[name]).all(), name


def test_all_candidates_have_the_same_chance() -> None:
    trace = trace_of(2, *section(0), *section(1), *crossing(2), *crossing(2))
    chosen = Counter(inject(trace, seed).removal for seed in range(400))  # type: ignore[union-attr]
    assert set(chosen) == set(removable(trace))
    assert min(chosen.values()) > 60
