"""Header of a trace as plain data, and back with every check (rule 5)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader

__all__ = ["header_from_dict", "header_to_dict"]

_KEYS = ("system", "geometry", "region", "source", "seed", "locations")
_GEOMETRY_KEYS = ("sm_count", "blocks_per_sm", "warps_per_sm")
_REGION_KEYS = ("data_base", "size_log2")
#: Digits of the highest PC.
_PC_DIGITS = len(str((1 << 32) - 1))


def header_to_dict(header: TraceHeader) -> dict[str, Any]:
    """Plain data of a header, in the order in which files hold it."""
    data = asdict(header)
    data["locations"] = {str(pc): place for pc, place in sorted(header.locations.items())}
    return data


def _keys(what: str, data: object, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TypeError(f"{what} must be an object, not {data!r}")
    if data.keys() != set(keys):
        raise ValueError(f"{what} must have the fields {', '.join(keys)}, not {', '.join(data)}")
    return data


def _locations(data: object) -> dict[int, str]:
    """Locations by PC; JSON has the PCs as strings of decimal digits."""
    if not isinstance(data, dict):
        raise TypeError(f"Locations must be an object, not {data!r}")
    for key in data:
        if not (key.isascii() and key.isdecimal() and len(key) <= _PC_DIGITS) or (
            key != str(int(key))
        ):
            raise ValueError(f"PC of a location must be a decimal number, not {key!r}")
    return {int(key): place for key, place in data.items()}


def header_from_dict(data: object) -> TraceHeader:
    """Header from plain data.

    Raises
    ------
    TypeError, ValueError
        If a field is missing, unknown, of the wrong type or out of range.
    """
    values = dict(_keys("Header", data, _KEYS))
    values["geometry"] = Geometry(**_keys("Geometry", values["geometry"], _GEOMETRY_KEYS))
    values["region"] = DataRegion(**_keys("Region", values["region"], _REGION_KEYS))
    values["locations"] = _locations(values["locations"])
    return TraceHeader(**values)
