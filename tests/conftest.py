"""Shared fixtures: the small systems as shared libraries, each built once; and the signals."""

import signal

import pytest
from hypothesis import HealthCheck, settings

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import build_fast

# No property is timed: a machine that does other things, too, must not fail one.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Interrupts, as in a terminal: a shell that runs the tests in the background ignores them,
    and so would every command that a test starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def scord_tiny():
    """ScoRD's preset for tests."""
    return build_fast("scord-tiny", find_preset("scord-tiny").params)


@pytest.fixture(scope="session")
def sigrace_tiny():
    """SigRace's preset for tests."""
    return build_fast("sigrace-tiny", find_preset("sigrace-tiny").params)


@pytest.fixture(scope="session")
def noncoherent_tiny():
    """The bus monitor's preset for tests."""
    return build_fast("noncoherent-tiny", find_preset("noncoherent-tiny").params)
