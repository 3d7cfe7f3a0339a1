"""Binary form of any trace: a prefix, a JSON header, and records of the header's system."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from racetrap.golden_model.trace.container.rules import Rule, TraceError

#: The first byte is not UTF-8, so no text matches; a transfer that rewrites line ends corrupts it
#: visibly.
MAGIC = b"\x89RTRAP\r\n"
VERSION = 2
#: Room for the locations of hundreds of thousands of instructions.
MAX_HEADER_BYTES = 1 << 24
#: Magic, version, bytes of the header, number of events, and a second number (GPU: lane
#: records; threads: bytes of compressed events).
PREFIX = struct.Struct("<8sIIQQ")


class Container(NamedTuple):
    """A binary trace file whose prefix and header have been read.

    Parameters
    ----------
    place : str
        The file, for error messages.
    header : dict
        The header as plain data; its fields are not checked yet.
    counts : tuple of int
        The two numbers of the prefix.
    body : numpy.ndarray
        All bytes after the header, mapped from the file.
    """

    place: str
    header: dict[str, Any]
    counts: tuple[int, int]
    body: np.ndarray

    def tables(self, *records: np.dtype) -> list[np.ndarray]:
        """Records after the header, mapped: a table of each type, with the prefix's counts.

        Raises
        ------
        TraceError
            Unless exactly these tables follow the header.
        """
        sizes = [
            record.itemsize * count for record, count in zip(records, self.counts, strict=False)
        ]
        self.check_length(sum(sizes))
        parts = np.split(self.body, np.cumsum(sizes)[:-1])
        return [
            part.view(record).view(np.ndarray) for part, record in zip(parts, records, strict=True)
        ]

    def place_of_record(self, row: int) -> str:
        """Place of an event, from its number; of the whole trace, from -1."""
        return f"{self.place}, event record {row}" if row >= 0 else self.place

    def check_length(self, expected: int) -> None:
        """Raise ``TraceError`` unless ``expected`` bytes follow the header."""
        _check_length(self.place, "after its header", len(self.body), expected)
        if len(self.body) > expected:
            raise TraceError(
                self.place, Rule.FILE_LENGTH,
                (f"File has {len(self.body) - expected} bytes more than the {expected} "
                 "after its header"),
            )  # fmt: skip


def _check_length(place: str, what: str, actual: int, expected: int) -> None:
    if actual < expected:
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"File is truncated: it has {actual} of {expected} bytes {what}",
        )  # fmt: skip


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("Header has a field twice")
    return data


def _load_header(raw: bytes, place: str) -> dict[str, Any]:
    try:
        data = json.loads(raw.decode(), object_pairs_hook=_unique)
    except RecursionError:
        raise TraceError(place, Rule.HEADER, "Header is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise TraceError(place, Rule.HEADER, f"Header is not JSON: {error}") from None
    except UnicodeDecodeError:
        raise TraceError(place, Rule.HEADER, "Header is not UTF-8 text") from None
    except ValueError as error:
        raise TraceError(place, Rule.HEADER, str(error)) from None
    if not isinstance(data, dict):
        raise TraceError(place, Rule.HEADER, f"Header must be an object, not {data!r}")
    return data


def open_container(path: Path) -> Container:
    """Read prefix and header of a binary trace; the rest is mapped, not read.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If prefix or header are not valid.
    """
    place = str(path)
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    start = raw[: PREFIX.size].tobytes()
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise TraceError(
            place, Rule.MAGIC, f"File must begin with {MAGIC!r}, not {start[: len(MAGIC)]!r}"
        )
    _check_length(place, "for the prefix", len(raw), PREFIX.size)
    _, version, header_bytes, *counts = PREFIX.unpack(start)
    if version != VERSION:
        raise TraceError(place, Rule.VERSION, f"Version must be {VERSION}, not {version}")
    if header_bytes % 8 or not 0 < header_bytes <= MAX_HEADER_BYTES:
        raise TraceError(
            place, Rule.HEADER_LENGTH,
            f"Header length must be a multiple of 8 from 8 to {MAX_HEADER_BYTES}, "
            f"not {header_bytes}",
        )  # fmt: skip
    end = PREFIX.size + header_bytes
    _check_length(place, "to the end of its header", len(raw), end)
    header = _load_header(raw[PREFIX.size : end].tobytes(), f"{place}, header")
    return Container(place, header, (counts[0], counts[1]), raw[end:])


def write_container(
    file: IO[bytes],
    header: dict[str, Any],
    counts: tuple[int, ...],
    body: Iterable[bytes],
) -> None:
    """Write a binary trace; ``ValueError`` if its header is too long.

    Parameters
    ----------
    file : binary file
        Target.
    header : dict
        Header as plain data.
    counts : tuple of int
        The two numbers of the prefix.
    body : iterable of bytes
        Contents after the header.
    """
    text = json.dumps(header).encode()
    # Records must lie on multiples of 8 bytes to be mapped.
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"Header of a binary trace must be at most {MAX_HEADER_BYTES} bytes, not {len(text)}"
        )
    file.write(PREFIX.pack(MAGIC, VERSION, len(text), *counts))
    file.write(text)
    for part in body:
        file.write(part)
