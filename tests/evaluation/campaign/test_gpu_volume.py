"""Regions and lengths of random tests, for every preset of a GPU detector."""

from contextlib import nullcontext
from random import Random
from types import SimpleNamespace

import pytest

from racetrap.evaluation.campaign.gpu_volume import TwoLaunches, random_region
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


def test_launches_in_order_are_short():
    """Each of their accesses waits for the one before, through all of a slow memory."""
    drawn: dict[bool, set[int]] = {False: set(), True: set()}

    def check_launch(sim, params, region, instructions, *, in_order, **options):
        drawn[in_order].add(instructions)

    play = TwoLaunches(
        lambda *arguments: nullcontext(), check_launch, lambda events, params: events,
        lambda params, region, style, seed, instructions: instructions,
        {"one": SimpleNamespace(lanes=1)},
    )  # fmt: skip
    for number in range(30):
        list(play(SimpleNamespace(params=_PRESETS["scord-tiny"]), number, Random(number), None))
    assert drawn == {False: {16_000, 4_000}, True: {2_000, 500}}
