"""Oracles, plain vector clocks and the definition by a graph agree on random traces.

``python -m pytest tests/golden_model/barracuda/test_agreement.py`` tries a few dozen seeds; each
has many kinds of event, and most have races.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from racetrap.golden_model.barracuda import Barracuda, RaceKind, ScopedOracle, shadow
from racetrap.golden_model.barracuda.compressed import Clock
from racetrap.golden_model.barracuda.fences import Fences
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.sync import SyncLocation
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace
from tests.support.oracle.definitions import (
    barracuda_by_definition,
    conflicting_everywhere,
    scoped_by_definition,
)
from tests.support.oracle.plain import plain_barracuda
from tests.support.oracle.plain_scoped import plain_scoped
from tests.support.oracle.random_traces import RandomRun

SEEDS = range(40)
STEPS = (10, 30, 80)
ORACLES = {
    "barracuda": (Barracuda, plain_barracuda, barracuda_by_definition),
    "scoped": (ScopedOracle, plain_scoped, scoped_by_definition),
}


def _trace(seed: int) -> Trace:
    rng = Random(seed)
    return RandomRun(rng, rng.choice(STEPS)).trace()


class Truth(NamedTuple):
    """What is true of the random traces, by seed."""

    traces: dict[int, Trace]
    races: dict[str, dict[int, Any]]


@pytest.fixture(scope="module")
def truth() -> Truth:
    traces = {seed: _trace(seed) for seed in SEEDS}
    races = {
        name: {seed: definition(trace) for seed, trace in traces.items()}
        for name, (_, _, definition) in ORACLES.items()
    }
    return Truth(traces, races)


@pytest.mark.parametrize("name", ORACLES)
def test_oracle_plain_clocks_and_definition_agree(truth, name):
    oracle, plain, _ = ORACLES[name]
    for seed, trace in truth.traces.items():
        races, barriers = truth.races[name][seed]
        fast, slow = oracle().run(trace), plain(trace)
        assert {race.key for race in fast} == set(races), f"seed {seed}"
        assert {race.key for race in slow} == set(races), f"seed {seed}"
        assert {each.pc for each in fast.barrier_divergences} == barriers, f"seed {seed}"
        assert fast.barrier_divergences == slow.barrier_divergences, f"seed {seed}"


@pytest.mark.parametrize("name", ORACLES)
def test_both_parties_access_the_address(truth, name):
    for seed, trace in truth.traces.items():
        for race in ORACLES[name][0]().run(trace):
            events = list(trace)
            for party in (race.first, race.second):
                event = events[party.event]
                assert (event.pc, event.kind) == (party.pc, party.access), f"seed {seed}"
                lane = next(lane for lane in event.lanes if lane.lane == party.thread % 32)
                starts = race.address, lane.address
                size = event.size if starts[1] < starts[0] else events[race.second.event].size
                assert max(starts) < min(starts) + size, f"seed {seed}: {race}"


def test_no_race_of_the_rules_is_none_by_the_letter(truth):
    """The rules report races of the definition only, and without atomics at each location."""
    for seed, trace in truth.traces.items():
        races, _ = truth.races["barracuda"][seed]
        found = {
            byte for key, places in races.items() for byte in places if key[1] == RaceKind.UNORDERED
        }
        everywhere = conflicting_everywhere(trace)
        assert found <= everywhere, f"seed {seed}"
        if not (trace.events["kind"] == EventKind.ATOMIC).any():
            assert found == everywhere, f"seed {seed}"


def test_random_traces_are_worth_it(truth):
    """Races of every kind and class, and pairs that only a release orders."""
    kinds = {key[1] for races in truth.races["scoped"].values() for key in races[0]}
    classes = {key[2].value for races in truth.races["scoped"].values() for key in races[0]}
    assert kinds == set(RaceKind) - {RaceKind.UNORDERED_STRONG}
    assert classes == {"divergence", "intra-block", "inter-block"}
    formats = {
        name
        for oracle, _, _ in ORACLES.values()
        for trace in truth.traces.values()
        for name in oracle().run(trace).counts.formats
    }
    assert formats == {"converged", "diverged", "nested-diverged", "sparse"}


def _release_to_all(self: SyncLocation, block: int, known: Any) -> None:
    self.release_to_all(known)


def _no_join(self: Clock, other: Clock, gone: int, now: int) -> Clock:
    return self


def _exits_ignored(self: Warp, kind: EventKind, mask: int, now: int) -> None:
    if kind != EventKind.EXIT:
        _BRANCH(self, kind, mask, now)


def _one_fence_fits_all(self: Fences, warp: Warp, mask: int, device: bool, now: int) -> None:
    _FENCE(self, warp, mask, True, now)


def _fence_of_all_lanes(self: Fences, warp: Warp, mask: int, device: bool, now: int) -> None:
    _FENCE(self, warp, warp.active, device, now)


def _locks_need_no_fence(self: Fences, lane: int, of_block: Any, for_all: Any) -> None:
    self.last[lane] = self.last[lane]


def _without_reads(kernel: Any, accesses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = _PAIRS(kernel, accesses)
    writes = kernel.kind[first] != EventKind.LOAD
    return first[writes], second[writes]


def _future_published(self: Clock, place: Any, now: int) -> Any:
    return _PUBLISH(self, place, now + 4)


def _sides_know_each_other(self: Clock, lanes: int, now: int) -> Clock:
    return self


_BRANCH, _FENCE, _PAIRS = Warp.branch, Fences.fence, shadow._pairs
_PUBLISH = Clock.publish

#: A slip in a rule: what is replaced, by what, and the oracle that must show it.
ERRORS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "block-release-to-all": (SyncLocation, "release_to_block", _release_to_all, "barracuda"),
    "block-release-to-all-scoped": (SyncLocation, "release_to_block", _release_to_all, "scoped"),
    "device-release-lost": (SyncLocation, "release_to_all", lambda *_: None, "scoped"),
    "sides-do-not-join": (Clock, "reconverge", _no_join, "barracuda"),
    "sides-in-lockstep": (Clock, "without", _sides_know_each_other, "barracuda"),
    "exits-ignored": (Warp, "branch", _exits_ignored, "barracuda"),
    "barrier-orders-nothing": (Warp, "pass_barrier", lambda *_: None, "barracuda"),
    "acquire-orders-nothing": (Clock, "acquire", lambda self, *_: self, "barracuda"),
    "block-fence-as-device-fence": (Fences, "fence", _one_fence_fits_all, "scoped"),
    "fence-of-all-lanes": (Fences, "fence", _fence_of_all_lanes, "scoped"),
    "locks-never-taken": (Fences, "take", _locks_need_no_fence, "scoped"),
    "release-publishes-the-future": (Clock, "publish", _future_published, "scoped"),
    "readers-forgotten": (shadow, "_pairs", _without_reads, "barracuda"),
}


@pytest.mark.parametrize("error", ERRORS)
def test_planted_error_shows(truth, monkeypatch, error):
    where, attribute, wrong, name = ERRORS[error]
    monkeypatch.setattr(where, attribute, wrong)
    wrong_seeds = []
    for seed, trace in truth.traces.items():
        races, barriers = truth.races[name][seed]
        result = ORACLES[name][0]().run(trace)
        found = {race.key for race in result}, {each.pc for each in result.barrier_divergences}
        if found != (set(races), barriers):
            wrong_seeds.append(seed)
    assert wrong_seeds
