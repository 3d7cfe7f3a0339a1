"""Race-free cases on weak memory: they give what sequentially consistent schedules give."""

import pytest

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.golden_model.ptx_memory_model.oracle import OracleRule
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.oracle import CompiledOracle
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import SCHEDULES

GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=16)


def run(case, **settings):
    """What a case leaves in memory, and its trace."""
    device = Device(GEOMETRY, **settings)
    buffers = [device.allocate(4096), device.allocate(256)]
    module = load_kernels("racetrap.sim.gpu.suites.concurrency", case.source)
    for _ in range(case.launches):
        device.launch(module, case.name, case.grid, case.block, buffers, case.dynamic_shared)
    return tuple(
        bytes(device.read(buffer, "u1", size))
        for buffer, size in zip(buffers, (4096, 256), strict=True)
    ), device.trace("")


@pytest.mark.campaign
@pytest.mark.parametrize("memory", MEMORY_MODELS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_results_of_race_free_cases_are_sequentially_consistent(case, memory):
    right = set()
    for scheduler, seed in (*SCHEDULES, *(("random", seed) for seed in range(6, 30))):
        left, trace = run(case, scheduler=scheduler, seed=seed)
        right.add(left)
        if CompiledOracle(OracleRule.CAUSALITY).run(trace).races:
            pytest.skip("a race by PTX's rules")
    for seed in range(1, 21):
        choices = RandomChoices(seed, random_rates(seed, 1.0))
        settings = WeakMemorySettings(MEMORY_MODELS[memory], choices)
        assert run(case, memory=settings)[0] in right, f"seed {seed}"
