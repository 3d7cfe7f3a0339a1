"""Race-free kernels of the suite on weak memory: they give their results, whatever the memory."""

import pytest

from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

PAIRS = {pair.free: pair for pairs in GROUPS.values() for pair in pairs}


@pytest.mark.campaign
@pytest.mark.parametrize("memory", MEMORY_MODELS)
@pytest.mark.parametrize("kernel", PAIRS)
def test_results_are_right(kernel, memory):
    pair = PAIRS[kernel]
    for seed in range(1, 21):
        settings = settings_of(memory, RandomChoices(seed, random_rates(seed)))
        run = run_kernel(pair, kernel, "in-order", 1, settings)
        assert tuple(run.data[: len(pair.result)]) == pair.result, f"seed {seed}"
