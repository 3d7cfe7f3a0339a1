"""Clusters of several blocks: results against NumPy, and each race with its lines and the block
whose shared memory it is."""

import numpy as np
import pytest

from racetrap.golden_model.events import EventScope, Space
from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.executor.codegen import cluster_code
from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel
from racetrap.sim.gpu.executor.codegen.emitter import Emitter
from racetrap.sim.gpu.executor.machine.cluster import Cluster
from racetrap.sim.gpu.executor.machine.event_log import EventLog
from racetrap.sim.gpu.executor.machine.launch import Launch
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS
from racetrap.sim.gpu.oracle.rules import run_oracle
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from tests.support.campaign import later_but
from tests.support.gpu.clusters.cases import CASES, line_of, result_of, run_case

RUNS = [(name, scheduler) for name in CASES for scheduler in WARP_SCHEDULERS]
#: One scheduler each in `make test`.
_NOW = {
    (name, scheduler)
    for number, name in enumerate(CASES)
    for scheduler in [list(WARP_SCHEDULERS)[number % len(WARP_SCHEDULERS)]]
}


def races_of(run):
    return run_oracle(run.trace, "causality", True).races


def lines(run):
    """Pairs of lines that race."""
    return {
        frozenset(line_of(run.trace, party.pc) for party in (race.first, race.second))
        for race in races_of(run)
    }


def agrees(name, scheduler):
    """Whether a kernel does what it must, nothing races, and its racy form is reported."""
    run, racy = run_case(name, scheduler), run_case(f"{name}_racy", scheduler)
    expected = result_of(name)
    is_right = (run.data[: len(expected)] == expected).all() and not run.fault
    return is_right and not races_of(run) and lines(racy) == set(CASES[name].races)


@pytest.mark.parametrize(("name", "scheduler"), later_but(lambda run: run in _NOW, RUNS))
def test_a_right_kernel_is_silent(name, scheduler):
    run, expected = run_case(name, scheduler), result_of(name)
    np.testing.assert_array_equal(run.data[: len(expected)], expected)
    assert (run.fault, races_of(run)) == ("", [])


@pytest.mark.parametrize(("name", "scheduler"), later_but(lambda run: run in _NOW, RUNS))
def test_a_racy_kernel_is_reported_with_its_lines(name, scheduler):
    case, run = CASES[name], run_case(f"{name}_racy", scheduler)
    if run.fault:
        assert case.ends_early
        assert "in shared memory of a block that has not ended" in run.fault
        return
    assert lines(run) == set(case.races)
    for race in races_of(run):
        is_shared = case.owner is not None
        assert race.space == (Space.SHARED if is_shared else Space.GLOBAL)
        if case.owner is not None:
            assert race.owner in case.owner(race.first.grid_block, race.second.grid_block)


@pytest.mark.parametrize(
    ("name", "memory"),
    later_but(lambda run: run == ("relaxed", "views"),
              [(name, memory) for name in CASES for memory in MEMORY_MODELS]),
)  # fmt: skip
def test_a_right_kernel_is_right_on_weak_memory(name, memory):
    expected = result_of(name)
    for seed in range(1, 6):
        settings = settings_of(memory, RandomChoices(seed, random_rates(seed)))
        run = run_case(name, "in-order", memory=settings)
        np.testing.assert_array_equal(run.data[: len(expected)], expected, f"seed {seed}")


def test_a_racy_kernel_fails_on_weak_memory():
    """By values that a relaxed arrival does not release."""
    expected, wrong = result_of("relaxed"), 0
    for seed in range(1, 6):
        settings = settings_of("views", RandomChoices(seed, random_rates(seed)))
        run = run_case("relaxed_racy", "in-order", memory=settings)
        wrong += (run.data[: len(expected)] != expected).any()
    assert wrong


def _own_block_alone(self):
    """Opens when the threads of one block are there."""
    everyone = self.blocks
    try:
        for block in everyone:
            self.blocks = [block]
            _TRY_OPEN(self)
    finally:
        self.blocks = everyone


def _neighbours(self, number):
    """Blocks with consecutive numbers, whatever the shape."""
    return list(range(number * self._cluster_size, (number + 1) * self._cluster_size))


def _opens_at_once(self, waiting):
    self._open[waiting.warp] = self._between[waiting.warp]
    return _PASSES(self, waiting)


def _without_rank(self, *event, size=0, **others):
    return _EVENT(self, *event, **others)


_TRY_OPEN, _PASSES, _EVENT = Cluster.try_open, Cluster._passes, EventLog._event


@pytest.mark.parametrize(
    ("where", "what", "wrong", "kernel"),
    [
        (Cluster, "try_open", _own_block_alone, "ring"),
        (Cluster, "_passes", _opens_at_once, "ring"),
        (Launch, "_members", _neighbours, "tiles"),
        (EventLog, "_event", _without_rank, "counter"),
        (EventLog, "cluster_wait", lambda *_: None, "split"),
        (Emitter, "scope", lambda self, scope: EventScope.BLOCK, "flag"),
        (cluster_code, "mapped", lambda warp, place, addresses, ranks: addresses, "split"),
    ],
)
def test_a_planted_bug_is_found(monkeypatch, where, what, wrong, kernel):
    monkeypatch.setattr(where, what, wrong)
    compile_kernel.cache_clear()
    try:
        assert not agrees(kernel, "newest-first")
    finally:
        compile_kernel.cache_clear()
