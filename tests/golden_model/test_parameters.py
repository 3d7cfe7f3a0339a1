"""Fields of parameters: what they may be is checked from where they are declared."""

from dataclasses import dataclass
from enum import StrEnum

import pytest

from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.parameters import Parameters, integer


class _Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class _Base(Parameters):
    size: int = integer(4, 1, 8, power_of_two=True)
    colour: _Colour = _Colour.RED
    is_on: bool = True


@dataclass(frozen=True)
class _Wider(_Base):
    size: int = integer(6, 1, 64)
    later: int = integer(0, 0, 3, came_later=True)


def test_a_word_becomes_its_choice():
    assert _Base(colour="blue").colour is _Colour.BLUE


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": 0}, ValueError, "Parameter size must be from 1 to 8, not 0"),
        ({"size": 6}, ValueError, "Parameter size must be a power of two, not 6"),
        ({"size": True}, TypeError, "Parameter size must be an integer, not True"),
        ({"is_on": 1}, TypeError, "Parameter is_on must be true or false, not 1"),
        ({"colour": "blew"}, ValueError, "Unknown value of colour 'blew': did you mean 'blue'?"),
    ],
)
def test_what_is_refused(settings, error, message):
    with pytest.raises(error) as raised:
        _Base(**settings)
    assert str(raised.value) == message


def test_a_subclass_may_have_another_range_and_default():
    assert _Wider().size == 6
    assert (_Base.most("size"), _Wider.most("size")) == (8, 64)
    with pytest.raises(ValueError, match="Parameter size must be from 1 to 64, not 65"):
        _Wider(size=65)


def test_what_came_later_changes_no_hash_unless_it_is_set():
    before = type("_Wider", (_Base,), {"__annotations__": {"size": int}, "size": integer(6, 1, 64)})
    assert configuration_hash(_Wider()) == configuration_hash(dataclass(frozen=True)(before)())
    assert configuration_hash(_Wider(later=1)) != configuration_hash(_Wider())
