"""Random configurations."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.generators.random_configurations import random_configuration


def test_a_number_always_gives_the_same_configuration():
    assert random_configuration(7) == random_configuration(7)
    assert find_preset("random-7").params == random_configuration(7)


def test_numbers_give_different_configurations():
    assert len({random_configuration(number) for number in range(50)}) == 50


@pytest.mark.parametrize("name", ["random-", "random-x", "random--1", "random-1x"])
def test_number_must_be_one(name):
    with pytest.raises(ValueError, match=f"or random-NUMBER, not {name}"):
        find_preset(name)
