"""Parameters of an instance: each is declared once, with its default and what it may be."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from racetrap.golden_model.checks import check_integer, unknown_name
from racetrap.golden_model.configuration import HASHED_IF_SET


def integer(
    default: int, low: int, high: int, *, power_of_two: bool = False, came_later: bool = False
) -> Any:
    """Field of a class of parameters that holds an integer.

    Parameters
    ----------
    default : int
        Value where none is given.
    low, high : int
        Inclusive range.
    power_of_two : bool
        Whether it must be one.
    came_later : bool
        Whether configurations without it keep the hash that they had before there was one.
    """
    rule = {"range": (low, high), "power_of_two": power_of_two}
    return field(default=default, metadata={**rule, **(HASHED_IF_SET if came_later else {})})


def later_switch() -> Any:
    """Field for a switch that is off by default, and came later: see ``integer``."""
    return field(default=False, metadata=HASHED_IF_SET)


@dataclass(frozen=True)
class Parameters:
    """Base of the parameters of a detector: its fields are integers, switches, or choices of words.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type, is out of range or conflicts with another.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(each.default, StrEnum):
                # JSON and settings give the word.
                word = _choice(each.name, value, type(each.default))
                object.__setattr__(self, each.name, word)
            elif isinstance(each.default, bool):
                if not isinstance(value, bool):
                    raise TypeError(f"Parameter {each.name} must be true or false, not {value!r}")
            else:
                check_integer(f"Parameter {each.name}", value, *each.metadata["range"])
                if each.metadata["power_of_two"] and value.bit_count() != 1:
                    raise ValueError(f"Parameter {each.name} must be a power of two, not {value}")

    @classmethod
    def most(cls, name: str) -> int:
        """Largest value of an integer parameter."""
        return next(int(each.metadata["range"][1]) for each in fields(cls) if each.name == name)

    def check_bytes(self, name: str, least: int) -> None:
        """Raise ``ValueError`` unless a parameter is 0 or a power of two of at least ``least``."""
        value = getattr(self, name)
        if value and (value.bit_count() != 1 or value < least):
            raise ValueError(
                f"Parameter {name} must be 0 or a power of two of at least {least}, not {value}"
            )


def _choice(name: str, value: object, words: type[StrEnum]) -> StrEnum:
    try:
        return words(str(value))
    except ValueError:
        raise ValueError(unknown_name(f"value of {name}", value, words)) from None
