"""A small system as a shared library."""

import pytest

from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Timing

_WATCHDOG = 5_000


@pytest.fixture
def model(sigrace_tiny):
    return sigrace_tiny


@pytest.fixture
def sim(model):
    with FastSim(model, seed=7, timing=Timing(watchdog=_WATCHDOG)) as simulation:
        simulation.rdm.control()
        yield simulation
