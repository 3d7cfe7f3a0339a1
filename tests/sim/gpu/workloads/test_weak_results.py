"""Applications on weak memory: their own check of the result must hold, whatever the memory."""

import pytest

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from racetrap.sim.gpu.workloads.registry import WORKLOADS

_GEOMETRY = Geometry(15, 8, 32)


def _run(workload, memory, seed):
    choices = RandomChoices(seed, random_rates(seed))
    settings = settings_of(memory, choices)
    WORKLOADS[workload].run(Device(_GEOMETRY, memory=settings), "tiny", 1)
    assert choices.deviations


@pytest.mark.parametrize("memory", MEMORY_MODELS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_results_are_right(workload, memory):
    _run(workload, memory, 1)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(2, 21))
@pytest.mark.parametrize("memory", MEMORY_MODELS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_results_are_right_by_other_seeds(workload, memory, seed):
    _run(workload, memory, seed)
