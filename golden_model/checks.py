"""Checks of values from users or files, with the error sentences of the whole project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def check_integer(what: str, value: object, low: int, high: int) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` is an integer from low to high."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{what} must be from {low} to {high}, not {value}")


def nearest_name(value: object, known: Iterable[object]) -> str:
    """Question whether the nearest known name was meant; empty if none is near."""
    from difflib import get_close_matches  # only an error needs it

    near = get_close_matches(str(value), map(str, known), n=1, cutoff=0.7)
    return f"did you mean {near[0]!r}?" if near else ""


def with_nearest(value: object, known: Iterable[object]) -> str:
    """A given name, with the question for the nearest known one, if any."""
    return ": ".join(filter(None, (str(value), nearest_name(value, known))))


def unknown_name(what: str, value: object, known: Iterable[object], remedy: str = "") -> str:
    """Error sentence about an unknown name.

    It suggests the nearest name if one is near, otherwise lists all.

    Parameters
    ----------
    what : str
        Noun of the name, in lower case: "preset".
    value : object
        The name that was given.
    known : iterable of object
        Names that may be given.
    remedy : str
        What to do if there are too many names to list: "`racetrap presets` lists them".
    """
    names = [str(each) for each in known]
    choices = " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    every = f"choose {choices}" if names else "there is none to choose"
    return f"Unknown {what} {value!r}: {nearest_name(value, names) or remedy or every}"


def check_printable(what: str, value: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` is one line of printable text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {value!r}")
    if not value.isprintable():
        raise ValueError(f"{what} must be printable characters, not {value!r}")


def check_lines(what: str, value: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` consists of lines of printable
    text."""
    check_printable(what, value.replace("\n", " ") if isinstance(value, str) else value)


def check_provenance(source: object, seed: object, locations: Mapping[int, str]) -> None:
    """Check the fields for people that every trace header has.

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
