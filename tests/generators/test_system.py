"""Detectors: random configurations, and that nothing of two is the same."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.generators.systems import SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_number_always_gives_the_same_configuration(system):
    assert system.random(7) == system.random(7)
    assert find_preset(f"{system.random_prefix}-7").params == system.random(7)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_numbers_give_different_configurations(system):
    assert len({system.random(number) for number in range(50)}) == 50


@pytest.mark.parametrize("name", ["random-", "random-x", "random--1", "random-1x"])
def test_number_must_be_one(name):
    with pytest.raises(ValueError, match=f"Unknown preset '{name}'.*random-"):
        find_preset(name)


@pytest.mark.parametrize("key", ["name", "title", "random_prefix", "params"])
def test_detectors_are_told_apart(key):
    assert len({getattr(system, key) for system in SYSTEMS}) == len(SYSTEMS)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_detector_has_what_can_be_asked_for(system):
    assert system.has("golden_model")
    assert system.has("sim.cosim", "coverage_bins")
    assert system.own("sim.cosim", "coverage_bins").BINS
    assert not system.has("sim.cosim", "no_such_part")
    assert not system.has("no_such_room", "part")
