"""Errors planted in the oracle: the comparison with brute force must see each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from racetrap.golden_model.happens_before import accesses, happens_before, pairs
from racetrap.golden_model.happens_before.clocks import _Clocks
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.trace.threads.events import SyncClass
from racetrap.sim.cpu.random_run import random_run
from tests.support.threads.brute_force import brute_force_races

SEEDS = range(30)


def differs() -> bool:
    """Whether any random run shows other races than brute force."""
    for seed in SEEDS:
        trace = random_run(seed, threads=2 + seed % 4, sync=(0.3, 0.6)[seed % 2])
        if HappensBefore().run(trace).races != sorted(brute_force_races(trace)):
            return True
    return False


def always_overwrite(clocks: Any, thread: int, name: Any, overwrite: bool = False) -> None:
    clocks._now[thread][thread] += 1
    clocks.histories[thread] += clocks._now[thread]
    clocks._objects[name] = clocks._now[thread].copy()


def give_before_the_step(clocks: Any, thread: int, name: Any, overwrite: bool = False) -> None:
    before = clocks._now[thread].copy()
    clocks._now[thread][thread] += 1
    clocks.histories[thread] += clocks._now[thread]
    clocks._objects[name] = [*map(max, clocks._objects[name], before)]


def readers_order_readers(clocks: Any, thread: int, address: int, sync_class: int) -> None:
    if sync_class == SyncClass.RWLOCK_READ:
        clocks._take(thread, ("rwlock writers", address, 0), ("rwlock readers", address, 0))
    else:
        ACQUIRE(clocks, thread, address, sync_class)


def one_crossing_only(clocks: Any, thread: int, barrier: int, _width: int) -> None:
    clocks._crossings[thread, barrier] = 0
    clocks._give(thread, ("barrier", barrier, 0))


def update_only_acquires(clocks: Any, thread: int, address: int, order: int) -> None:
    if order:
        clocks._take(thread, ("atomic", address, 0))
    if order == 3:
        clocks._take(thread, ("atomic", address, 0))


ACQUIRE = _Clocks._acquire
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
        (_Clocks, "_give", always_overwrite),
        (_Clocks, "_give", give_before_the_step),
        (_Clocks, "_acquire", readers_order_readers),
        (_Clocks, "_arrive", one_crossing_only),
        (_Clocks, "_update", update_only_acquires),
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
    assert differs()
