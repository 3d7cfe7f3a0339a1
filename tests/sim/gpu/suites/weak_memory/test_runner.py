"""Every variant gives NumPy's result under sequential consistency, in every schedule."""

import pytest

from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import kernels_of, run_variant

VARIANTS = [
    pytest.param(program, variant, id=program.kernel(variant))
    for program in PROGRAMS.values()
    for variant in program.variants
]


def _check(captured):
    assert not captured.fault
    assert not captured.differences


@pytest.mark.parametrize(("program", "variant"), VARIANTS)
def test_results_are_right(program, variant):
    for schedule in range(2):
        _check(run_variant(program, variant, schedule))


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_right_at_another_size(name):
    _check(run_variant(PROGRAMS[name], PROGRAMS[name].variants[0], 1, blocks=4, threads=64))


@pytest.mark.campaign
@pytest.mark.parametrize(("program", "variant"), VARIANTS)
def test_results_are_right_in_20_schedules(program, variant):
    for threads in (None, 64):
        for schedule in range(20):
            _check(run_variant(program, variant, schedule, threads=threads))


def test_another_result_is_seen():
    program = PROGRAMS["dot_product"]
    launch = launch_of(program, program.variants[0])
    total = launch.arguments[2]
    wrong = total.model_copy(update={"expected": [total.expected[0] + 1]})
    arguments = [*launch.arguments[:2], wrong, *launch.arguments[3:]]
    captured = capture(kernels_of(program), launch.model_copy(update={"arguments": arguments}))
    assert captured.differences
