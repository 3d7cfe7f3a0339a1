"""Executions: whether sequentially consistent memory can do the same."""

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import judge
from racetrap.golden_model.ptx_memory_model.events import Location
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in
from racetrap.golden_model.ptx_memory_model.operational import (
    Execution,
    Kind,
    RandomChoices,
)
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS
from racetrap.golden_model.ptx_memory_model.operational.machine import Machine
from tests.support.ptx_memory_model.weak_outcomes import documented_tests

#: The machine keeps no account of barriers.
BARRIERS = (ptx.CtaBarrier, ptx.WarpBarrier, ptx.ClusterBarrier)
TESTS = {
    test.name: test
    for test in documented_tests()
    if not any(
        isinstance(each.operation, BARRIERS) for own in test.threads for each in own.instructions
    )
}


def run_of(test, memory, choices):
    """Final state of a run, and its execution; nothing of one that is stuck."""
    machine = Machine(test, MODELS[memory], choices)
    machine.memory.execution = execution = Execution()
    while machine.step():
        pass
    return None if machine.is_stuck else machine.final_state(observed_in(test.condition)), execution


@pytest.mark.parametrize("memory", ["views", "write-buffers"])
@pytest.mark.parametrize("name", sorted(TESTS))
def test_a_consistent_execution_has_a_consistent_outcome(memory, name):
    """And a run in which memory does not deviate is one, so that all such outcomes are found."""
    test = TESTS[name]
    states = judge(test).states
    allowed = {tuple(each.values.values()) for each in states if each.sequentially_consistent}
    turns = dict.fromkeys(Kind, 0.0) | {Kind.TURN: 0.5}
    for seed in range(15):
        for rates in (turns, dict.fromkeys(Kind, 0.5)):
            state, execution = run_of(test, memory, RandomChoices(seed, rates))
            consistent = execution.is_sequentially_consistent()
            assert consistent or rates is not turns
            assert not consistent or state is None or state in allowed


def test_most_weak_runs_of_store_buffering_are_told_from_others():
    found = {
        (state, execution.is_sequentially_consistent())
        for state, execution in (
            run_of(TESTS["SB+relaxed"], "views", RandomChoices(seed, dict.fromkeys(Kind, 0.5)))
            for seed in range(60)
        )
    }
    assert found == {((0, 0), False), ((0, 1), True), ((1, 0), True), ((1, 1), True)}


def access(execution, thread, address, size=4, reads=None, writes=None):
    operation = execution.add(thread, Location(address, size))
    operation.reads, operation.writes = reads, writes
    return operation


@pytest.mark.parametrize(("size", "is_consistent"), [(4, False), (2, False), (1, True)])
def test_locations_meet_byte_by_byte(size, is_consistent):
    """Store buffering, of which one load is of another size than the store that it misses, or of
    another byte."""
    execution = Execution()
    access(execution, 0, 0, writes=(1, 1))
    access(execution, 0, 8, reads=(0, 0))
    access(execution, 1, 8, writes=(2, 1))
    access(execution, 1, 4 if size == 1 else 4 - size, size, reads=(0, 0))
    assert execution.is_sequentially_consistent() == is_consistent


def test_barriers_order():
    """A load behind a barrier that misses a store before it, which program order does not tell."""
    execution = Execution()
    access(execution, 0, 0, writes=(1, 1))
    arrived = [execution.add(0), execution.add(1)]
    access(execution, 1, 0, reads=(0, 0))
    assert execution.is_sequentially_consistent()
    execution = Execution()
    access(execution, 0, 0, writes=(1, 1))
    arrived = [execution.add(0), execution.add(1)]
    execution.meet(arrived, [0, 1])
    access(execution, 1, 0, reads=(0, 0))
    assert not execution.is_sequentially_consistent()


def test_an_atomic_with_a_write_between_is_not_consistent():
    execution = Execution()
    access(execution, 0, 0, reads=(1, 0), writes=(1, 1))
    assert execution.is_sequentially_consistent()
    access(execution, 1, 0, writes=(1, 0.5))
    assert not execution.is_sequentially_consistent()


def test_a_store_that_is_held_is_read_by_its_thread():
    execution = Execution()
    held = access(execution, 0, 0)
    access(execution, 0, 0, reads=held)
    held.writes = (3, 0)
    access(execution, 1, 0, reads=(3, 0))
    assert execution.is_sequentially_consistent()
