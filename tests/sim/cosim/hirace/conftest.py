"""A small system as a shared library, and traffic for it."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.hirace.fast_compare import transactions_of
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events


@pytest.fixture(scope="session")
def model():
    return build_fast("hirace-tiny", find_preset("hirace-tiny").params)


@pytest.fixture
def region():
    return Region(data_base=1 << 13, size_log2=12, metadata_base=0x8000)


@pytest.fixture
def traffic(model, region):
    """Function that gives random transactions with their SM."""

    def make(style="mixed", instructions=300, seed=3):
        events = random_events(model.params, region, STYLES[style], seed, instructions)
        return transactions_of(events, model.params)

    return make
