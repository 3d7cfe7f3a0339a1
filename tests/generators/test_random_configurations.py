"""Random configurations."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.generators.random_configurations import random_scord, random_sigrace


@pytest.mark.parametrize(
    ("draw", "prefix"), [(random_scord, "random"), (random_sigrace, "sigrace-random")]
)
def test_a_number_always_gives_the_same_configuration(draw, prefix):
    assert draw(7) == draw(7)
    assert find_preset(f"{prefix}-7").params == draw(7)


@pytest.mark.parametrize("draw", [random_scord, random_sigrace])
def test_numbers_give_different_configurations(draw):
    assert len({draw(number) for number in range(50)}) == 50


@pytest.mark.parametrize("name", ["random-", "random-x", "random--1", "random-1x"])
def test_number_must_be_one(name):
    with pytest.raises(ValueError, match=f"random-NUMBER, .*, not {name}"):
        find_preset(name)
