"""Raw records of a recorded run: one file a thread, as the runtime's record.h lays them out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.threads.events import ThreadEventKind

__all__ = ["RAW_DTYPE", "RawStream", "read_streams"]

#: One record; ``tag`` is the event's kind and one, or one of the tags below.
RAW_DTYPE = np.dtype([
    ("address", "<u8"),
    ("pc", "<u4"),
    ("instructions", "<u2"),
    ("tag", "u1"),
    ("size", "u1"),
])  # fmt: skip

#: Sequence number (``address``) and value (``pc``) of the record before.
_EXTENSION = 254
#: Only instructions: as many as ``address`` says.
_FILLER = 255

_UNORDERED = (
    ThreadEventKind.LOAD, ThreadEventKind.STORE,
    ThreadEventKind.COLLECT_OFF, ThreadEventKind.COLLECT_ON,
)  # fmt: skip


class RawStream(NamedTuple):
    """Events of one thread, in its order.

    Parameters
    ----------
    kind, address, size, pc, instructions : numpy.ndarray
        Fields of the events.
    ordered : numpy.ndarray
        Which events have a sequence number, ascending.
    sequence, value : numpy.ndarray
        Sequence numbers, unique among all threads, and values of those events.
    """

    kind: np.ndarray
    address: np.ndarray
    size: np.ndarray
    pc: np.ndarray
    instructions: np.ndarray
    ordered: np.ndarray
    sequence: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)


def _complete(raw: np.ndarray) -> np.ndarray:
    """The records up to the first empty one, without a last one whose extension is missing."""
    tags = raw["tag"]
    # Only the last part of a file has empty records, all at its end.
    count = int(np.searchsorted(tags == 0, True))
    if count:
        last = int(tags[count - 1])
        if last < _EXTENSION and last - 1 not in _UNORDERED:
            count -= 1
    return raw[:count]


def _stream(raw: np.ndarray) -> RawStream:
    raw = _complete(raw)
    tags = raw["tag"]
    rows = np.flatnonzero(tags < _EXTENSION)
    extensions = np.flatnonzero(tags == _EXTENSION)
    instructions = raw["instructions"][rows].astype(np.uint32)
    fillers = np.flatnonzero(tags == _FILLER)
    if len(fillers):
        # Their instructions belong to the next event; after the last one they are lost.
        owners = np.searchsorted(rows, fillers)
        kept = owners < len(rows)
        np.add.at(instructions, owners[kept], raw["address"][fillers[kept]].astype(np.uint32))
    return RawStream(
        kind=tags[rows] - np.uint8(1),
        address=raw["address"][rows],
        size=raw["size"][rows],
        pc=raw["pc"][rows],
        instructions=instructions,
        ordered=np.searchsorted(rows, extensions) - 1,
        sequence=raw["address"][extensions],
        value=raw["pc"][extensions],
    )


def read_streams(folder: Path) -> list[RawStream]:
    """Streams of all threads by number; of a thread that never ran, an empty one."""
    files = {int(path.suffix[1:]): path for path in folder.glob("thread.*")}
    return [
        _stream(
            np.memmap(files[number], dtype=RAW_DTYPE, mode="r")
            if number in files and files[number].stat().st_size
            else np.empty(0, RAW_DTYPE)
        )
        for number in range(max(files, default=-1) + 1)
    ]
