"""Header of a trace of threads as plain data, and back with every check (rule 5)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.trace.container.header import (
    exact_fields,
    locations_from_dict,
    locations_to_dict,
)
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader

__all__ = ["checked_header", "header_to_dict"]

_KEYS = ("system", "threads", "source", "seed", "locations")


def header_to_dict(header: ThreadTraceHeader) -> dict[str, Any]:
    """Plain data of a header, in the order in which files hold it."""
    return asdict(header) | {"locations": locations_to_dict(header.locations)}


def checked_header(data: object, place: str) -> ThreadTraceHeader:
    """Header from plain data of the file ``place``; ``TraceError`` if a field is wrong."""
    try:
        values = exact_fields("Header", data, _KEYS)
        values["locations"] = locations_from_dict(values["locations"])
        return ThreadTraceHeader(**values)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None
