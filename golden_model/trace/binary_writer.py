"""Binary form of a trace, writing: a prefix, a JSON header and two arrays."""

from __future__ import annotations

import json
import struct
from typing import IO, TYPE_CHECKING

from racetrap.golden_model.trace.header import header_to_dict

if TYPE_CHECKING:
    from racetrap.golden_model.trace.trace import Trace

__all__ = ["MAGIC", "MAX_HEADER_BYTES", "PREFIX", "VERSION", "dump_binary"]

#: Not UTF-8 in its first byte, so no text is taken for it; a transfer that rewrites line ends
#: spoils it at once.
MAGIC = b"\x89RTRAP\r\n"
VERSION = 2
#: Room for the locations of hundreds of thousands of instructions.
MAX_HEADER_BYTES = 1 << 24
#: Magic, version, bytes of the header, number of events, number of lane records.
PREFIX = struct.Struct("<8sIIQQ")


def dump_binary(trace: Trace, file: IO[bytes]) -> None:
    """Write a trace in its binary form; ``ValueError`` if its header is too long for it."""
    header = json.dumps(header_to_dict(trace.header)).encode()
    # Records must lie on multiples of 8 bytes to be mapped.
    header += b" " * (-len(header) % 8)
    if len(header) > MAX_HEADER_BYTES:
        raise ValueError(
            f"Header of a binary trace must be at most {MAX_HEADER_BYTES} bytes, not {len(header)}"
        )
    file.write(PREFIX.pack(MAGIC, VERSION, len(header), len(trace.events), len(trace.lanes)))
    file.write(header)
    file.write(trace.events.tobytes())
    file.write(trace.lanes.tobytes())
