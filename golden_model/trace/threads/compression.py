"""Compressed event records of a trace of threads, block by block."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.container import Container
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE

#: Events that are compressed together; the last block may have fewer.
COMPRESSED_EVENTS = 1 << 16
#: Bytes of the compressed block that follows.
BLOCK_LENGTH = struct.Struct("<I")
#: Fast: little more is gained by zlib's other levels.
_LEVEL = 1


def compressed(events: np.ndarray) -> Iterator[bytes]:
    """Blocks of ``events``, each with its length ahead."""
    for start in range(0, len(events), COMPRESSED_EVENTS):
        block = events[start : start + COMPRESSED_EVENTS]
        # Stored by field: neighbours in a field are similar, neighbours in a record are not.
        columns = b"".join(block[name].tobytes() for name in THREAD_DTYPE.names or ())
        packed = zlib.compress(columns, _LEVEL)
        yield BLOCK_LENGTH.pack(len(packed)) + packed


def decompressed(container: Container) -> np.ndarray:
    """All records of a compressed trace.

    Raises
    ------
    TraceError
        If the blocks do not hold exactly the expected events.
    """
    place, left, body, at = container.place, container.counts[0], container.body, 0
    blocks = [np.empty(0, dtype=THREAD_DTYPE)]
    while left:
        events = min(left, COMPRESSED_EVENTS)
        start = at + BLOCK_LENGTH.size
        length = body[at:start].tobytes()
        at = start + (BLOCK_LENGTH.unpack(length)[0] if len(length) == BLOCK_LENGTH.size else 0)
        records = _decompress_block(body[start:at].tobytes(), events)
        if records is None:
            raise TraceError(
                place, Rule.FILE_LENGTH,
                (f"Compressed block {len(blocks) - 1} does not hold {events} events: "
                 "the file is damaged"),
            )  # fmt: skip
        blocks.append(records)
        left -= events
    if at != len(body):
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"Compressed blocks must take {len(body)} bytes as the prefix says, not {at}",
        )  # fmt: skip
    return np.concatenate(blocks)


def _decompress_block(packed: bytes, events: int) -> np.ndarray | None:
    """Records of one block, or None if ``packed`` is not exactly one block."""
    size = events * THREAD_DTYPE.itemsize
    stream = zlib.decompressobj()
    try:
        # Allow one byte more than expected, so that excess data are detected but bounded.
        columns = stream.decompress(packed, size + 1)
    except zlib.error:
        return None
    if len(columns) != size or not stream.eof or stream.unused_data:
        return None
    records, at = np.empty(events, dtype=THREAD_DTYPE), 0
    for name in THREAD_DTYPE.names or ():
        field = THREAD_DTYPE[name]
        records[name] = np.frombuffer(columns, field, events, at)
        at += events * field.itemsize
    return records
