"""Regions and lengths of random tests, for every preset of a GPU detector."""

from contextlib import nullcontext
from random import Random
from types import SimpleNamespace

import pytest

from racetrap.evaluation.campaign import gpu_volume
from racetrap.evaluation.campaign.gpu_volume import LaunchCases, cut_short, random_region
from racetrap.generators.systems import SYSTEMS
from racetrap.golden_model.trace import Trace

_PRESETS = {
    name: preset.params
    for system in SYSTEMS
    if system.trace is Trace
    for name, preset in system.presets.items()
}


@pytest.mark.parametrize("name", _PRESETS)
def test_regions_are_legal_and_use_every_address_bit(name):
    params, random = _PRESETS[name], Random(1)
    data = metadata = 0
    for _ in range(200):
        region = random_region(random, params)
        region.check(params)
        assert region.data_base + 2 * (1 << region.size_log2) <= 1 << params.address_bits
        data, metadata = data | region.data_base, metadata | region.metadata_base
    assert data >> params.min_region_log2 == (1 << params.address_bits - params.min_region_log2) - 1
    assert metadata == (1 << params.address_bits) - params.segment_bytes


def test_launches_end_anywhere():
    random, whole = Random(1), range(100)
    left = [cut_short(random, whole) for _ in range(1000)]
    assert {each[0] for each in left} == {0}
    assert 400 < left.count(whole) < 600
    assert {len(each) for each in left} == {*range(100 - 63, 101)}
    assert cut_short(random, range(1)) == range(1)


def test_launches_in_order_are_short(monkeypatch):
    """Each of their accesses waits for the one before, through all of a slow memory."""
    drawn: dict[bool, set[int]] = {False: set(), True: set()}

    def check_launch(sim, params, region, instructions, *, in_order, **options):
        drawn[in_order].add(instructions)

    monkeypatch.setattr(gpu_volume, "exercise_registers", lambda sim, random: None)
    monkeypatch.setattr(gpu_volume, "launches_amid", lambda model, region: 0)
    monkeypatch.setattr(gpu_volume, "reset_amid", lambda sim, random, transactions: None)
    monkeypatch.setattr(gpu_volume, "refuse_launches", lambda sim, params, region, random: None)
    monkeypatch.setattr(gpu_volume, "cut_short", lambda random, instructions: instructions)
    play = LaunchCases(
        lambda *arguments: nullcontext(SimpleNamespace()), check_launch,
        lambda events, params: events,
        lambda params, region, style, seed, instructions: instructions,
        {"one": SimpleNamespace(lanes=1)},
    )  # fmt: skip
    for number in range(30):
        list(
            play(
                SimpleNamespace(params=_PRESETS["scord-tiny"], places=None),
                number,
                Random(number),
                None,
            )
        )
    assert drawn == {False: {16_000, 4_000}, True: {2_000, 500}}
