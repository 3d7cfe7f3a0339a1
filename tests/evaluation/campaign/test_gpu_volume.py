"""Regions of random tests, for every preset of a GPU detector."""

from random import Random

import pytest

from racetrap.evaluation.campaign.gpu_volume import random_region
from racetrap.generators.systems import SYSTEMS
from racetrap.golden_model.trace import Trace

_PRESETS = {
    name: preset.params
    for system in SYSTEMS
    if system.trace is Trace
    for name, preset in system.presets.items()
}


@pytest.mark.parametrize("name", _PRESETS)
def test_region_and_metadata_fit_in_the_lower_half(name):
    """Metadata of an entry for each word are larger than the data."""
    params, half = _PRESETS[name], 1 << _PRESETS[name].address_bits - 1
    random = Random(1)
    for _ in range(200):
        region = random_region(random, params)
        end = region.metadata_base + params.entry_bytes * region.entries(params)
        assert max(region.data_base + (1 << region.size_log2), end) <= half
