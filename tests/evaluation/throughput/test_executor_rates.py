"""The executor is fast enough, however many threads there are."""

import pytest

from racetrap.evaluation.throughput.executor_rates import THREADS, measure_rate

LEAST_PER_SECOND = 1_500_000


@pytest.mark.parametrize("threads", [THREADS[0], 4096])
@pytest.mark.parametrize("independent", [False, True])
def test_rate(threads, independent):
    # The best of three: a busy machine makes some of them slow.
    rates = [measure_rate(threads, independent_threads=independent) for _ in range(3)]
    assert max(rate.per_second for rate in rates) > LEAST_PER_SECOND
    assert rates[0].thread_instructions > 4_000_000
    assert rates[0].events > 8_000
