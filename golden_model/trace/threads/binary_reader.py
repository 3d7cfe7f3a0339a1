"""Binary form of a trace of threads, reading: records mapped from the file, or decompressed."""

from __future__ import annotations

import zlib

import numpy as np

from racetrap.golden_model.trace.container.container import Container
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.threads.binary_writer import BLOCK_EVENTS, BLOCK_LENGTH
from racetrap.golden_model.trace.threads.header import checked_header
from racetrap.golden_model.trace.threads.records import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["load_binary"]


def _decompress(packed: bytes, events: int) -> np.ndarray | None:
    """Records of one block, or None if ``packed`` is not just that."""
    size = events * THREAD_DTYPE.itemsize
    stream = zlib.decompressobj()
    try:
        # One byte more than is due, so that too many show and no more are made.
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


def _unpack(container: Container) -> np.ndarray:
    """All records of a compressed trace."""
    place, left, body, at = container.place, container.counts[0], container.body, 0
    blocks = [np.empty(0, dtype=THREAD_DTYPE)]
    while left:
        events = min(left, BLOCK_EVENTS)
        start = at + BLOCK_LENGTH.size
        length = body[at:start].tobytes()
        at = start + (BLOCK_LENGTH.unpack(length)[0] if len(length) == BLOCK_LENGTH.size else 0)
        records = _decompress(body[start:at].tobytes(), events)
        if records is None:
            raise TraceError(
                place, Rule.FILE_LENGTH,
                f"Compressed block {len(blocks) - 1} must hold {events} events, not other bytes",
            )  # fmt: skip
        blocks.append(records)
        left -= events
    if at != len(body):
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"Compressed blocks must take {len(body)} bytes as the prefix says, not {at}",
        )  # fmt: skip
    return np.concatenate(blocks)


def load_binary(container: Container) -> ThreadTrace:
    """Check a binary trace of threads; its records are mapped unless they are compressed.

    Raises
    ------
    TraceError
        If the file breaks a rule of the format.
    """
    place, count, packed_bytes = container.place, *container.counts
    container.check_length(packed_bytes or count * THREAD_DTYPE.itemsize)
    header = checked_header(container.header, place)
    events = (
        _unpack(container) if packed_bytes else container.body.view(THREAD_DTYPE).view(np.ndarray)
    )
    return ThreadTrace(header, events, lambda row: f"{place}, event record {row}")
