"""Binary form of a trace of threads, writing: the event records, compressed or as they are."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

import numpy as np

from racetrap.golden_model.trace.container.container import write_container
from racetrap.golden_model.trace.threads.header import header_to_dict
from racetrap.golden_model.trace.threads.records import THREAD_DTYPE

if TYPE_CHECKING:
    from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["BLOCK_EVENTS", "BLOCK_LENGTH", "dump_binary"]

#: Events that are compressed together; the last block may have fewer.
BLOCK_EVENTS = 1 << 16
#: Bytes of the compressed block that follows.
BLOCK_LENGTH = struct.Struct("<I")
#: Fast: little more is gained by zlib's other levels.
_LEVEL = 1


def _compressed(events: np.ndarray) -> Iterator[bytes]:
    for start in range(0, len(events), BLOCK_EVENTS):
        block = events[start : start + BLOCK_EVENTS]
        # Field after field: neighbours in a field are alike, neighbours in a record are not.
        columns = b"".join(block[name].tobytes() for name in THREAD_DTYPE.names or ())
        packed = zlib.compress(columns, _LEVEL)
        yield BLOCK_LENGTH.pack(len(packed)) + packed


def dump_binary(trace: ThreadTrace, file: IO[bytes], compress: bool) -> None:
    """Write a trace in its binary form; ``ValueError`` if its header is too long for it."""
    body = list(_compressed(trace.events)) if compress else [trace.events.tobytes()]
    packed_bytes = sum(map(len, body)) if compress else 0
    header = header_to_dict(trace.header)
    write_container(file, header, (len(trace.events), packed_bytes), body)
