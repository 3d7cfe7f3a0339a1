"""Header of a trace: plain data for JSON, lines of text, and back with every check (rule 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from racetrap.golden_model.trace.container.rules import Rule, TraceError

__all__ = ["header_from_dict", "header_lines", "header_to_dict"]

_Header = TypeVar("_Header")
#: Digits of the highest PC.
_PC_DIGITS = len(str((1 << 32) - 1))
#: Numbers that are written in hexadecimal.
_HEXADECIMAL = ("data_base",)


def header_to_dict(header: Any) -> dict[str, Any]:
    """Plain data of a header, in the order in which files hold it.

    The PCs of locations are strings of decimal digits, ascending.
    """
    locations = {str(pc): place for pc, place in sorted(header.locations.items())}
    return asdict(header) | {"locations": locations}


def header_from_dict(header_type: type[_Header], data: object, place: str) -> _Header:
    """Header from plain data of the file ``place``.

    Raises
    ------
    TraceError
        If a field is missing, unknown, of the wrong type or out of range.
    """
    try:
        values = _exact_fields("Header", data, header_type)
        parts: dict[str, Any] = get_type_hints(header_type)
        for name, part in parts.items():
            if isinstance(part, type) and is_dataclass(part):
                values[name] = part(**_exact_fields(name.capitalize(), values[name], part))
        values["locations"] = _locations(values["locations"])
        return header_type(**values)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None


def header_lines(header: Any) -> Iterator[str]:
    """Lines of text with all that ``header_to_dict`` has."""
    data = asdict(header)
    source, seed, locations = (data.pop(name) for name in ("source", "seed", "locations"))
    for name, value in data.items():
        yield f"{name} {_assignments(value) if isinstance(value, dict) else value}"
    yield f"source {json.dumps(source, ensure_ascii=False)}"
    if seed is not None:
        yield f"seed {seed}"
    for pc, place in sorted(locations.items()):
        yield f"location {pc:#x} {json.dumps(place, ensure_ascii=False)}"


def _assignments(values: Mapping[str, int]) -> str:
    return " ".join(
        f"{name}={value:#x}" if name in _HEXADECIMAL else f"{name}={value:d}"
        for name, value in values.items()
    )


def _exact_fields(what: str, data: object, form: Any) -> dict[str, Any]:
    """Copy of ``data``; ``TypeError`` or ``ValueError`` unless it has the fields of ``form``."""
    names = [field.name for field in fields(form)]
    if not isinstance(data, dict):
        raise TypeError(f"{what} must be an object, not {data!r}")
    if data.keys() != set(names):
        raise ValueError(f"{what} must have the fields {', '.join(names)}, not {', '.join(data)}")
    return dict(data)


def _locations(data: object) -> dict[int, str]:
    """Locations by PC from what JSON has; ``TypeError`` or ``ValueError`` if it is wrong."""
    if not isinstance(data, dict):
        raise TypeError(f"Locations must be an object, not {data!r}")
    for key in data:
        if not (key.isascii() and key.isdecimal() and len(key) <= _PC_DIGITS) or (
            key != str(int(key))
        ):
            raise ValueError(f"PC of a location must be a decimal number, not {key!r}")
    return {int(key): place for key, place in data.items()}
