"""Race-free cases on weak memory: they give what sequentially consistent schedules give."""

import pytest

from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import GEOMETRY, SCHEDULES, run_case


@pytest.mark.campaign
@pytest.mark.parametrize("memory", MEMORY_MODELS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_results_of_race_free_cases_are_sequentially_consistent(case, memory):
    right = set()
    for scheduler, seed in (*SCHEDULES, *(("random", seed) for seed in range(6, 30))):
        device = Device(GEOMETRY, scheduler=scheduler, seed=seed)
        right.add(run_case(case, device))
        if CompiledOracle(OracleRule.CAUSALITY).run(device.trace("")).races:
            pytest.skip("a race by PTX's rules")
    for seed in range(1, 21):
        settings = settings_of(memory, RandomChoices(seed, random_rates(seed)))
        assert run_case(case, Device(GEOMETRY, memory=settings)) in right, f"seed {seed}"
