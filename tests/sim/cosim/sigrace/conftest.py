"""A small system as a shared library."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.sigrace.fast_library import Timing
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.systems import build_fast

_WATCHDOG = 5_000


@pytest.fixture(scope="session")
def model():
    """The preset for tests."""
    return build_fast("sigrace-tiny", find_preset("sigrace-tiny").params)


@pytest.fixture
def sim(model):
    with FastSim(model, seed=7, timing=Timing(watchdog=_WATCHDOG)) as simulation:
        simulation.rdm.control()
        yield simulation
