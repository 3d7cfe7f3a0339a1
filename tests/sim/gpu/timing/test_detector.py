"""A detector with cycles of its own beside the GPU holds it up, and uses its memory."""

from dataclasses import replace

import pytest

from tests.support.gpu.timing_cases import PARAMS, random_trace, run
from tests.support.gpu.timing_detector import DETECTOR_CASES, Scripted, run_beside, told_of


@pytest.mark.parametrize("name", DETECTOR_CASES)
def test_a_case_takes_what_is_computed_by_hand(name):
    assert not DETECTOR_CASES[name].differences()


@pytest.mark.parametrize("seed", range(10))
def test_all_is_told_and_nothing_else_changes(seed):
    trace, detector = random_trace(seed), Scripted()
    with_it, without = run_beside(trace, detector), run(trace, PARAMS)
    assert with_it.transactions == len(detector.taken) == len(told_of(trace).words)
    assert with_it.checks == with_it.metadata_reads == with_it.metadata_writes == 0
    assert with_it.instructions == without.instructions
    assert with_it.cycles >= without.cycles


def test_shared_memory_is_told_if_the_detector_sees_it():
    trace, detector = random_trace(0), Scripted()
    counts = run_beside(trace, detector, has_shared=True)
    told = len(told_of(trace, has_shared=True).words)
    assert counts.transactions == told > len(told_of(trace).words)


def test_a_detector_that_refuses_longer_costs_more():
    found = [run_beside(random_trace(3), Scripted(refuses=count)) for count in (0, 10, 100)]
    cycles = [each.cycles for each in found]
    assert sorted(set(cycles)) == cycles


def test_a_failure_of_the_detector_ends_the_run():
    with pytest.raises(RuntimeError, match="must come to its end"):
        run_beside(random_trace(1), Scripted(fails=True))


def test_an_error_of_a_launch_is_raised():
    class Refusing(Scripted):
        def launch(self):
            raise ValueError("no such region")

    with pytest.raises(ValueError, match="no such region"):
        run_beside(random_trace(1), Refusing())


def test_metadata_contend_with_data():
    """Many reads of other lines keep a channel from the data."""
    trace = random_trace(2)
    few = replace(PARAMS, channels=1, slices_per_channel=1)
    idle, busy = (
        run_beside(trace, Scripted(reads=range(0, 128 * count, 128)), few) for count in (0, 500)
    )
    assert busy.metadata_reads == 500
    assert busy.cycles > idle.cycles
