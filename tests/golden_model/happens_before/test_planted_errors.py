"""Errors planted in the oracle: the comparison with brute force must see each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from racetrap.golden_model.happens_before import accesses, happens_before, pairs
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.sync_objects import SyncObjects, Timestamp
from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEvent, ThreadEventKind
from racetrap.sim.cpu.random_run import random_run
from tests.support.threads.brute_force import brute_force_races

SEEDS = range(30)


def differs() -> bool:
    """Whether any random run shows other races than brute force."""
    for seed in SEEDS:
        trace = random_run(seed, threads=2 + seed % 4, sync=(0.3, 0.6)[seed % 2])
        expected = brute_force_races(trace).items()
        if HappensBefore().run(trace).races != sorted(race for race, (same, _) in expected if same):
            return True
    return False


def always_overwrite(objects: SyncObjects, event: ThreadEvent, timestamp: Timestamp) -> None:
    objects._fields[objects._released(event)] = timestamp


def give_before_the_step(objects: SyncObjects, event: ThreadEvent, timestamp: Timestamp) -> None:
    before = list(timestamp)
    before[event.thread] -= 1
    RELEASE(objects, event, tuple(before))


def readers_order_readers(objects: SyncObjects, event: ThreadEvent) -> list[tuple[int, ...]]:
    if event.kind == ThreadEventKind.ACQUIRE and event.value == SyncClass.RWLOCK_READ:
        event = event._replace(value=SyncClass.RWLOCK_WRITE)
    return ACQUIRED(objects, event)


def one_crossing_only(objects: SyncObjects, event: ThreadEvent) -> tuple[int, ...]:
    ARRIVE(objects, event)
    key = ThreadEventKind.BARRIER_ARRIVE, event.address, 0
    objects._crossings[event.thread, event.address] = key
    return key


def update_only_acquires(objects: SyncObjects, event: ThreadEvent, timestamp: Timestamp) -> None:
    if event.kind != ThreadEventKind.ATOMIC_UPDATE:
        RELEASE(objects, event, timestamp)


RELEASE, ACQUIRED, ARRIVE = SyncObjects.release, SyncObjects._acquired, SyncObjects._arrive
EPOCHS, LOCATIONS = happens_before.event_epochs, accesses._locations
KNOWING, PAIRS = pairs._first_knowing, pairs._group_pairs


def without_lives(events: np.ndarray, rows: np.ndarray, granules: np.ndarray) -> np.ndarray:
    return LOCATIONS(events[:0], rows, granules)


def everything_collected(events: np.ndarray) -> Any:
    epochs = EPOCHS(events)
    return epochs._replace(collected=np.ones(len(events), bool))


def loads_acquire_late(events: np.ndarray) -> Any:
    epochs = EPOCHS(events)
    return epochs._replace(known=epochs.epoch)


def one_epoch_too_many(*arguments: Any) -> np.ndarray:
    return KNOWING(*arguments) + 1


def atomics_race(found: Any) -> Any:
    return PAIRS(found._replace(is_atomic=np.zeros(len(found.is_atomic), bool)))


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [
        (SyncObjects, "release", always_overwrite),
        (SyncObjects, "release", give_before_the_step),
        (SyncObjects, "_acquired", readers_order_readers),
        (SyncObjects, "_arrive", one_crossing_only),
        (SyncObjects, "release", update_only_acquires),
        (accesses, "_locations", without_lives),
        (happens_before, "event_epochs", everything_collected),
        (happens_before, "event_epochs", loads_acquire_late),
        (pairs, "_first_knowing", one_epoch_too_many),
        (pairs, "_group_pairs", atomics_race),
    ],
)
def test_planted_error_is_seen(
    owner: Any, name: str, error: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not differs()
    monkeypatch.setattr(owner, name, error)
    monkeypatch.setattr(SyncObjects, "_forget", lambda *_: None)
    assert differs()
