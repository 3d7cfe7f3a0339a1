"""Header of a GPU trace as plain data, and back with every check (rule 5)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.trace.container.header import (
    exact_fields,
    locations_from_dict,
    locations_to_dict,
)

__all__ = ["header_from_dict", "header_to_dict"]

_KEYS = ("system", "geometry", "region", "source", "seed", "locations")
_GEOMETRY_KEYS = ("sm_count", "blocks_per_sm", "warps_per_sm")
_REGION_KEYS = ("data_base", "size_log2")


def header_to_dict(header: TraceHeader) -> dict[str, Any]:
    """Plain data of a header, in the order in which files hold it."""
    return asdict(header) | {"locations": locations_to_dict(header.locations)}


def header_from_dict(data: object) -> TraceHeader:
    """Header from plain data.

    Raises
    ------
    TypeError, ValueError
        If a field is missing, unknown, of the wrong type or out of range.
    """
    values = exact_fields("Header", data, _KEYS)
    values["geometry"] = Geometry(**exact_fields("Geometry", values["geometry"], _GEOMETRY_KEYS))
    values["region"] = DataRegion(**exact_fields("Region", values["region"], _REGION_KEYS))
    values["locations"] = locations_from_dict(values["locations"])
    return TraceHeader(**values)
