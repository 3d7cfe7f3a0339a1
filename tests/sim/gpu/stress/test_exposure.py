"""Exposure of races: by themselves, together with others, and only under weak memory."""

import pytest

from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import kernels_of
from racetrap.verdict.gpu.exposed_races import ExposureSearch, expose_races
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support import REPOSITORY

SUITE = REPOSITORY / "sim" / "gpu" / "suites" / "weak_memory"


def exposures(program, name, memory="views", runs=20):
    """Exposed unordered pairs by numbers of lines, each with whether by itself; others."""
    suite = PROGRAMS[program]
    module, launch = kernels_of(suite), launch_of(suite, suite.variant(name))
    check = TraceCheck(folder=SUITE)
    check.add(capture(module, launch).trace)
    pairs = [*check.pairs, *check.strong]
    search = ExposureSearch(memory, runs, 1)
    others = expose_races(pairs, KernelSubject(module, launch), search, SUITE)
    for pair in pairs:
        assert pair.exposure["memory"] == memory, pair
    found = {
        lines(pair.first.chains): pair.exposure["alone"]
        for pair in pairs
        if pair.exposure["failure"]
    }
    return found, {lines(chains) for chains in others}, len(pairs)


def lines(chains):
    """Lines of the program's own file, from which helper functions are called."""
    own = [next(place for place in chain if "common.cuh" not in place) for chain in chains]
    return tuple(sorted(int(place.rpartition(":")[2]) for place in own))


def test_the_race_that_matters_is_exposed_by_itself():
    assert exposures("dot_product", "no_acquire") == ({(16,): True}, set(), 3)
    assert exposures("dot_product", "full")[:2] == ({}, set())


def test_write_buffers_do_not_expose_a_missing_acquire():
    assert exposures("dot_product", "no_acquire", "write-buffers") == ({}, set(), 3)


def test_races_of_weak_executions_alone():
    found, others, _ = exposures("dekker", "no_store_load")
    assert found == {(14, 20): False}
    assert others
    assert others <= {(48,), (49,), (48, 49)}


def test_strong_accesses_that_do_not_race_can_be_exposed():
    found, _, _ = exposures("seqlock", "no_first")
    assert True in found.values()


@pytest.mark.parametrize("name", ["full", "device"])
def test_right_variants_expose_nothing(name):
    assert exposures("shared_queue", name, runs=5)[:2] == ({}, set())
