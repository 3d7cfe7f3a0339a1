"""Shared fixtures: the small systems as shared libraries, each built once; the signals; and which
tests run first, and which in one process."""

import gc
import os
import signal
import zlib

import pytest
from hypothesis import HealthCheck, settings

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import build_fast
from tests.support.pages.devtools import browser

#: What builds simulators and bitstreams: no worker is left alone with one in the end.
_LONG = ("tests/generators", "tests/sim/cosim", "tests/tb", "tests/rtl/link/test_link_at_pins",
         "tests/fpga", "tests/racetrap/commands",
         "tests/test_", "tests/evaluation")  # fmt: skip

# No property is timed: a machine that does other things, too, must not fail one.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


# Nothing of what is imported and collected is garbage: a search for it would take a third of the
# time.
gc.disable()


def pytest_configure(config):
    """Simulators of `make test` play little, and their builds are most of what it does."""
    if config.option.markexpr == "not campaign":
        os.environ.setdefault("RACETRAP_QUICK_BUILDS", "1")


def pytest_collection_finish():
    """What has been imported and collected stays: no search for garbage walks over it again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """What takes long comes first."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of a file in one process, as those of a group: they share fixtures, and none waits for
    what its neighbour builds. A campaign's files are too long for that."""
    if config.option.dist != "loadgroup" or config.option.markexpr != "not campaign":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class Files(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

    return Files(config, log)


@pytest.fixture
def seed(request):
    """Seed of this test, from $RACETRAP_SEED (1 by default) and the test's name."""
    root = os.environ.get("RACETRAP_SEED", "1")
    print(f"again: RACETRAP_SEED={root} pytest '{request.node.nodeid}'")
    return zlib.crc32(f"{root} {request.node.name}".encode())


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


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser for all pages of a process; its start takes longer than several pages."""
    with browser(tmp_path_factory.mktemp("chromium")) as shown:
        yield shown
