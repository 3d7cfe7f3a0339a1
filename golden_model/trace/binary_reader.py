"""Binary form of a trace, reading: prefix, header, then the arrays mapped from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from racetrap.golden_model.events import TraceHeader
from racetrap.golden_model.trace.binary_writer import MAGIC, MAX_HEADER_BYTES, PREFIX, VERSION
from racetrap.golden_model.trace.header import header_from_dict
from racetrap.golden_model.trace.records import EVENT_DTYPE, LANE_DTYPE, Rule, TraceError
from racetrap.golden_model.trace.trace import Trace

__all__ = ["load_binary"]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("Header must have each field once, not one of them twice")
    return data


def _load_header(raw: bytes, place: str) -> TraceHeader:
    try:
        return header_from_dict(json.loads(raw.decode(), object_pairs_hook=_unique))
    except RecursionError:
        raise TraceError(place, Rule.HEADER, "Header must be JSON, not nested so deeply") from None
    except json.JSONDecodeError as error:
        raise TraceError(place, Rule.HEADER, f"Header must be JSON, not {error}") from None
    except UnicodeDecodeError:
        raise TraceError(place, Rule.HEADER, "Header must be UTF-8, not other bytes") from None
    except (TypeError, ValueError) as error:
        raise TraceError(place, Rule.HEADER, str(error)) from None


def _check_length(place: str, what: str, actual: int, expected: int) -> None:
    if actual < expected:
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"File must hold {expected} bytes {what}, not be truncated to {actual}",
        )  # fmt: skip


def load_binary(path: Path) -> Trace:
    """Read and check a binary trace; its arrays are mapped, not copied.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If the file breaks a rule of the format.
    """
    place = str(path)
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    start = raw[: PREFIX.size].tobytes()
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise TraceError(
            place, Rule.MAGIC, f"File must begin with {MAGIC!r}, not {start[: len(MAGIC)]!r}"
        )
    _check_length(place, "for the prefix", len(raw), PREFIX.size)
    _, version, header_bytes, event_count, lane_count = PREFIX.unpack(start)
    if version != VERSION:
        raise TraceError(place, Rule.VERSION, f"Version must be {VERSION}, not {version}")
    if header_bytes % 8 or not 0 < header_bytes <= MAX_HEADER_BYTES:
        raise TraceError(
            place, Rule.HEADER_LENGTH,
            f"Header length must be a multiple of 8 from 8 to {MAX_HEADER_BYTES}, "
            f"not {header_bytes}",
        )  # fmt: skip
    events_at = PREFIX.size + header_bytes
    lanes_at = events_at + event_count * EVENT_DTYPE.itemsize
    end = lanes_at + lane_count * LANE_DTYPE.itemsize
    _check_length(place, "as its prefix says", len(raw), end)
    if len(raw) > end:
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"File must end after {end} bytes, not have {len(raw) - end} trailing bytes",
        )  # fmt: skip
    header = _load_header(raw[PREFIX.size : events_at].tobytes(), f"{place}, header")
    return Trace(
        header,
        raw[events_at:lanes_at].view(EVENT_DTYPE).view(np.ndarray),
        raw[lanes_at:end].view(LANE_DTYPE).view(np.ndarray),
        lambda row: f"{place}, event record {row}" if row >= 0 else place,
    )
