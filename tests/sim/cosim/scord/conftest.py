"""A small system as a shared library, and traffic for it."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of

_WATCHDOG = 5_000


@pytest.fixture
def model(scord_tiny):
    return scord_tiny


@pytest.fixture
def wide_model():
    """Two words a cycle, and two fences; the campaign has wider ones."""
    params = replace(find_preset("scord-tiny").params, banks=2, words_per_cycle=2, fence_lanes=2)
    return build_fast("scord-tiny", params)


@pytest.fixture
def region():
    return Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)


@pytest.fixture
def sim(model):
    with FastSim(model, seed=7, timing=MemoryTiming(watchdog=_WATCHDOG)) as simulation:
        yield simulation


@pytest.fixture
def traffic(model, region):
    """Function that gives random transactions with their SM."""

    def make(knobs="mixed", instructions=150, seed=3):
        events = random_events(model.params, region, KNOBS[knobs], seed, instructions)
        return list(transactions_of(events, model.params))

    return make
