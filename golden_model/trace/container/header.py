"""What the headers of all traces share: a set of fields, and locations by PC (rule 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["exact_fields", "locations_from_dict", "locations_to_dict"]

#: Digits of the highest PC.
_PC_DIGITS = len(str((1 << 32) - 1))


def exact_fields(what: str, data: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Copy of ``data``; ``TypeError`` or ``ValueError`` unless it has just these fields."""
    if not isinstance(data, dict):
        raise TypeError(f"{what} must be an object, not {data!r}")
    if data.keys() != set(names):
        raise ValueError(f"{what} must have the fields {', '.join(names)}, not {', '.join(data)}")
    return dict(data)


def locations_to_dict(locations: Mapping[int, str]) -> dict[str, str]:
    """Locations as JSON has them: PCs are strings of decimal digits, ascending."""
    return {str(pc): place for pc, place in sorted(locations.items())}


def locations_from_dict(data: object) -> dict[int, str]:
    """Locations by PC from what JSON has; ``TypeError`` or ``ValueError`` if it is wrong."""
    if not isinstance(data, dict):
        raise TypeError(f"Locations must be an object, not {data!r}")
    for key in data:
        if not (key.isascii() and key.isdecimal() and len(key) <= _PC_DIGITS) or (
            key != str(int(key))
        ):
            raise ValueError(f"PC of a location must be a decimal number, not {key!r}")
    return {int(key): place for key, place in data.items()}
