"""Raw records of a recorded run, in one file as the runtime's record.c and record.h lay it out."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.twins import constants, record

__all__ = [
    "RAW_DTYPE", "RAW_TWINS", "Loss", "RawFrame", "RawStream", "counted_events", "followed_child",
    "map_records", "read_error", "read_losses", "read_streams", "thread_ids", "used_bytes",
]  # fmt: skip

#: One record; ``tag`` is the event's kind and one, or one of the tags below.
RAW_DTYPE = np.dtype([
    ("address", "<u8"),
    ("pc", "<u4"),
    ("instructions", "<u2"),
    ("tag", "u1"),
    ("size", "u1"),
])  # fmt: skip


class Loss(IntEnum):
    """What a program does, but its records lack."""

    OUTLIVING_THREADS = 0
    EVENTS_AFTER_END = 1
    UNKNOWN_FRAMES = 2
    FORMATS = 3
    LARGE_FREES = 4
    CHILDREN = 5


_FILE_NAME = "records"
_HEADER_BYTES = 4096
#: Start of the file: bytes in use, events in full parts, a child that is followed and one more than
#: its exit status, what is not recorded, and the error that ended recording.
_HEADER_DTYPE = np.dtype([
    ("used", "<u8"),
    ("events", "<u8"),
    ("process", "<u4"),
    ("status", "<u4"),
    ("lost", "<u8", (len(Loss),)),
    ("error", f"S{_HEADER_BYTES - 24 - 8 * len(Loss)}"),
])  # fmt: skip
#: Start of each part: its thread, the kernel's number of that, and its bytes.
_PART_DTYPE = np.dtype([("thread", "<u4"), ("tid", "<u4"), ("bytes", "<u8")])
_SMALLEST_PART = 1 << 16

#: A function in the tree of calls: the number of its caller and the call's return address
#: (``address``), and a return address in it (``pc``); they are numbered from 1.
_FRAME = 252
#: The function that the accesses after it are made in: its number (``pc``).
_IN_FRAME = 253
#: Sequence number (``address``) and value (``pc``) of the record before.
_EXTENSION = 254
#: Only instructions: ``address`` is their number.
_FILLER = 255

#: The file as C++ reads it.
RAW_TWINS = (
    constants({"HEADER_BYTES": _HEADER_BYTES, "SMALLEST_PART": _SMALLEST_PART}, ctype="uint64_t"),
    constants(
        {"FRAME_TAG": _FRAME, "IN_FRAME_TAG": _IN_FRAME, "EXTENSION_TAG": _EXTENSION,
         "FILLER_TAG": _FILLER},
        ctype="uint8_t",
    ),
    record(RAW_DTYPE, "Record"),
    record(_PART_DTYPE, "Part"),
)  # fmt: skip

_UNORDERED = (
    ThreadEventKind.LOAD, ThreadEventKind.STORE,
    ThreadEventKind.COLLECT_OFF, ThreadEventKind.COLLECT_ON,
)  # fmt: skip


class RawFrame(NamedTuple):
    """A function of a thread's tree of calls, by return addresses.

    Parameters
    ----------
    caller : int
        Number of the frame of its caller; 0 if there is none.
    call, function : int
        Where the call returns to, and a return address in the function.
    """

    caller: int
    call: int
    function: int


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
    frame : numpy.ndarray
        Number of the frame that each access was made in; 0 if it is not known, and for other
        events.
    frames : list of RawFrame
        The thread's frames; the first has number 1.
    """

    kind: np.ndarray
    address: np.ndarray
    size: np.ndarray
    pc: np.ndarray
    instructions: np.ndarray
    ordered: np.ndarray
    sequence: np.ndarray
    value: np.ndarray
    frame: np.ndarray
    frames: list[RawFrame]

    def __len__(self) -> int:
        return len(self.kind)


def _complete(raw: np.ndarray) -> np.ndarray:
    """The records up to the first empty one, without a last one whose extension is missing."""
    tags = raw["tag"]
    # Only the last part of a thread has empty records, all at its end.
    count = int(np.searchsorted(tags == 0, True))
    if count:
        last = int(tags[count - 1])
        if last < _FRAME and last - 1 not in _UNORDERED:
            count -= 1
    return raw[:count]


def _stream(raw: np.ndarray) -> RawStream:
    raw = _complete(raw)
    tags = raw["tag"]
    rows = np.flatnonzero(tags < _FRAME)
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
        frame=_frames_of(raw, rows),
        frames=[
            RawFrame(address >> 32, address & 0xFFFF_FFFF, pc)
            for address, pc in zip(
                *(raw[name][tags == _FRAME].tolist() for name in ("address", "pc")), strict=True
            )
        ],
    )


def _frames_of(raw: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Frame of each event: that of the latest record of one before it."""
    changes = np.flatnonzero(raw["tag"] == _IN_FRAME)
    numbers = np.concatenate([[0], raw["pc"][changes]]).astype(np.uint32)
    frames = numbers[np.searchsorted(changes, rows)]
    return np.where(raw["tag"][rows] - 1 <= ThreadEventKind.ATOMIC_UPDATE, frames, 0)


def _header(folder: Path) -> np.void:
    try:
        with (folder / _FILE_NAME).open("rb") as file:
            data = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        data = b""
    header: np.void = np.frombuffer(data.ljust(_HEADER_BYTES, b"\0"), _HEADER_DTYPE)[0]
    return header


def used_bytes(folder: Path) -> int:
    """Bytes of the records so far, the room in their latest parts included."""
    return int(_header(folder)["used"])


def counted_events(folder: Path) -> int:
    """Events so far in the threads' full parts, if the runtime was told to count them."""
    return int(_header(folder)["events"])


def followed_child(folder: Path) -> tuple[int, int | None]:
    """Process that the recording has gone over to, 0 for none, and its exit status once it has
    exited."""
    header = _header(folder)
    status = int(header["status"])
    return int(header["process"]), status - 1 if status else None


def read_error(folder: Path) -> str:
    """Why the runtime ended the program; empty if it did not."""
    error: bytes = _header(folder)["error"]
    return error.decode(errors="replace")


def read_losses(folder: Path) -> dict[Loss, int]:
    """How much of each kind is not in the records, though the program did it."""
    counts = _header(folder)["lost"].tolist()
    return {loss: counts[loss] for loss in Loss if counts[loss]}


def map_records(folder: Path) -> np.ndarray:
    """The file of records as far as it is in use, mapped; nothing if there is none."""
    end = used_bytes(folder)
    if not end:
        return np.empty(0, np.uint8)
    return np.memmap(folder / _FILE_NAME, np.uint8, "r", shape=(end,))


def _parts(data: np.ndarray) -> Iterator[tuple[np.void, np.ndarray]]:
    """Head and records of all parts, in the order of the file."""
    offset = _HEADER_BYTES
    while offset < len(data):
        header = data[offset : offset + _PART_DTYPE.itemsize].view(_PART_DTYPE)[0]
        size = int(header["bytes"])
        if size:
            records = data[offset + _PART_DTYPE.itemsize : offset + size].view(RAW_DTYPE)
            yield header, records
        # A process that was killed may leave a part without a header: it is empty.
        offset += size or _SMALLEST_PART


def thread_ids(folder: Path) -> dict[int, int]:
    """Thread of each number that the kernel gave one."""
    return {int(head["tid"]): int(head["thread"]) for head, _ in _parts(map_records(folder))}


def read_streams(folder: Path) -> list[RawStream]:
    """Streams of all threads by number; of a thread that never ran, an empty one."""
    parts: dict[int, list[np.ndarray]] = {}
    for head, records in _parts(map_records(folder)):
        parts.setdefault(int(head["thread"]), []).append(records)
    nothing = [np.empty(0, RAW_DTYPE)]
    return [
        _stream(np.concatenate(parts.get(number, nothing)))
        for number in range(max(parts, default=-1) + 1)
    ]
