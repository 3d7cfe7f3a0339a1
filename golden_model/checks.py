"""Checks of values that a user or a file gives, with the errors of the whole project."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["check_integer", "check_printable", "check_provenance"]


def check_integer(what: str, value: object, low: int, high: int) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` is an integer from low to high."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{what} must be from {low} to {high}, not {value}")


def check_printable(what: str, value: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` is one line of printable text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {value!r}")
    if not value.isprintable():
        raise ValueError(f"{what} must be printable characters, not {value!r}")


def check_provenance(source: object, seed: object, locations: Mapping[int, str]) -> None:
    """Check what every trace header says for people.

    Parameters
    ----------
    source : object
        Where the trace comes from: one line of printable characters.
    seed : object
        Seed of a random trace, up to 64 bits, or None.
    locations : mapping of int to str
        Place in the source of a PC.
    """
    check_printable("Trace source", source)
    if seed is not None:
        check_integer("Trace seed", seed, 0, (1 << 64) - 1)
    for pc, place in locations.items():
        check_integer("PC of a location", pc, 0, (1 << 32) - 1)
        check_printable(f"Location of pc {pc:#x}", place)
