"""Runs of workloads on the paper's GPU, with the races that the golden model reports."""

import pytest

from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import Geometry
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.workloads.registry import WORKLOADS

PARAMS = SCORD.presets["scord-nocache"].params
GEOMETRY = Geometry(PARAMS.sm_count, PARAMS.blocks_per_sm, PARAMS.warps_per_sm)
METADATA_BASE = 1 << 36


@pytest.fixture
def kinds_of_races():
    """Kinds of race that ScoRD, an entry for each word, reports in a run of a workload."""

    def kinds(workload, size, scheduler, seed, switches=frozenset()):
        device = Device(GEOMETRY, scheduler=scheduler, seed=seed)
        WORKLOADS[workload].run(device, size, seed, switches)
        trace = device.trace(workload)
        region = trace.header.region
        scord = Scord(PARAMS, Region(region.data_base, region.size_log2, METADATA_BASE))
        for event in trace:
            scord.run(event)
        return {race_words(race.race) for race in scord.races}

    return kinds


@pytest.fixture
def new_device():
    """Makes a device."""

    def make(scheduler, seed, **options):
        return Device(GEOMETRY, scheduler=scheduler, seed=seed, **options)

    return make
