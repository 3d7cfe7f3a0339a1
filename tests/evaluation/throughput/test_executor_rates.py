"""Rate of the executor: measured on a run of every instruction and event."""

import pytest

from racetrap.evaluation.throughput.executor_loops import _LOOPS, measure_loop
from racetrap.evaluation.throughput.executor_rates import THREADS, measure_executor


@pytest.mark.parametrize("threads", [THREADS[0], 4096])
@pytest.mark.parametrize("independent", [False, True])
def test_rate(threads, independent):
    run = measure_executor(threads, independent_threads=independent)
    assert run.thread_instructions > 4_000_000
    assert run.events > 8_000
    assert run.per_second == run.thread_instructions / run.seconds > 0


def test_independent_lanes_take_at_most_half_as_long_again_on_a_kernel_that_does_not_diverge():
    # In turn, so that other work on the machine slows both.
    runs = [
        [measure_executor(4096, independent_threads=each).seconds for each in (False, True)]
        for _ in range(4)
    ]
    lockstep, independent = map(min, zip(*runs, strict=True))
    assert independent <= 1.5 * lockstep


@pytest.mark.parametrize("loop", _LOOPS)
def test_loops_that_are_compared_end(loop):
    kernel, blocks, threads, _ = _LOOPS[loop]
    assert measure_loop(kernel, blocks, threads, 3) > 0
