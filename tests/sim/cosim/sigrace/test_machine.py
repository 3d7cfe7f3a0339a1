"""Recorded programs on the hardware, with rollbacks and Analysis, against the golden model."""

from dataclasses import replace

import pytest

from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.fast_simulation import Timing
from racetrap.sim.cosim.sigrace.machine import run_program
from tests.support.threads.random_traces import random_thread_trace

_PARAMS = SIGRACE.presets["sigrace-tiny"].params
_THREADS = Environment("multiplex", quantum=40, seed=3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("interval", [120, 1_000_000])
def test_hardware_finds_what_the_golden_model_finds(model, seed, interval):
    trace = random_thread_trace(seed, 3, events=250, addresses=24)
    sigrace = Sigrace(_PARAMS, _THREADS, interval)
    run = run_program(model, sigrace, trace, seed, Timing(idle_percent=30, trap_stall=50))
    assert run.result == sigrace.run(trace)
    assert run.messages == run.result.statistics.messages > 0
    assert run.rdm_steps > run.messages
    assert bool(run.analysed) >= bool(run.result.races)


def test_some_of_these_programs_have_races_and_checkpoints(model):
    """Otherwise the test above would show little."""
    results = [
        Sigrace(_PARAMS, _THREADS, 120).run(random_thread_trace(seed, 3, events=250, addresses=24))
        for seed in range(6)
    ]
    assert sum(len(result.races) for result in results) > 10
    assert sum(result.statistics.checkpoints for result in results) > 3
    assert sum(sum(result.statistics.rollbacks.values()) for result in results) > 5


def test_other_conflicts_than_the_golden_models_are_an_error(model):
    class Liar(Sigrace):
        def run(self, trace, listener=None):
            result = super().run(trace, listener)
            return replace(result, conflicts=result.conflicts + 1)

    with pytest.raises(Mismatch, match="Conflicts must number"):
        run_program(model, Liar(_PARAMS, _THREADS), random_thread_trace(0, 3, events=250))


@pytest.mark.parametrize(
    "sigrace",
    [Sigrace(_PARAMS, _THREADS, unbounded=True), Sigrace(replace(_PARAMS, threads=4), _THREADS)],
)
def test_software_of_another_machine(model, sigrace):
    with pytest.raises(ValueError, match="Parameters of the software must be those"):
        run_program(model, sigrace, random_thread_trace(0, 3, events=20))
