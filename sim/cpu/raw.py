"""Raw records of a recorded run, in one file laid out by the runtime's record.c and record.h."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.sim.twins import constants, record

#: One record; ``tag`` is the event's kind and one, or one of the tags below.
RAW_DTYPE = np.dtype([
    ("address", "<u8"),
    ("pc", "<u4"),
    ("instructions", "<u2"),
    ("tag", "u1"),
    ("size", "u1"),
])  # fmt: skip


class Loss(IntEnum):
    """Kind of action of a program that its records lack."""

    OUTLIVING_THREADS = 0
    EVENTS_AFTER_END = 1
    UNKNOWN_FRAMES = 2
    FORMATS = 3
    LARGE_FREES = 4
    CHILDREN = 5


_FILE_NAME = "records"
_HEADER_BYTES = 4096
#: Start of the file: bytes in use, events in full parts, the followed child and one plus its exit
#: status, counts of losses, and the error that ended recording.
_HEADER_DTYPE = np.dtype([
    ("used", "<u8"),
    ("events", "<u8"),
    ("process", "<u4"),
    ("status", "<u4"),
    ("lost", "<u8", (len(Loss),)),
    ("error", f"S{_HEADER_BYTES - 24 - 8 * len(Loss)}"),
])  # fmt: skip
#: Start of each part: its thread, the kernel's id of it, and its bytes.
_PART_DTYPE = np.dtype([("thread", "<u4"), ("tid", "<u4"), ("bytes", "<u8")])
_SMALLEST_PART = 1 << 16

#: A function in the tree of calls: the number of its caller and the call's return address
#: (``address``), and a return address in it (``pc``); they are numbered from 1.
_FRAME = 252
#: Function of the following accesses: its number (``pc``).
_IN_FRAME = 253
#: Sequence number (``address``) and value (``pc``) of the record before.
_EXTENSION = 254
#: Only instructions: ``address`` is their number.
_FILLER = 255

#: Layout of the file for C++.
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


class RawFrame(NamedTuple):
    """A function of a thread's tree of calls, by return addresses.

    Parameters
    ----------
    caller : int
        Number of the frame of its caller; 0 if there is none.
    call, function : int
        Return address of the call, and a return address in the function.
    """

    caller: int
    call: int
    function: int


def _header(folder: Path) -> np.void:
    try:
        with (folder / _FILE_NAME).open("rb") as file:
            data = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        data = b""
    header: np.void = np.frombuffer(data.ljust(_HEADER_BYTES, b"\0"), _HEADER_DTYPE)[0]
    return header


def used_bytes(folder: Path) -> int:
    """Bytes of the records so far, including free space in their latest parts."""
    return int(_header(folder)["used"])


def counted_events(folder: Path) -> int:
    """Events so far in the threads' full parts, if the runtime counts them."""
    return int(_header(folder)["events"])


def followed_child(folder: Path) -> tuple[int, int | None]:
    """Process that the recording now follows, 0 for none, and its exit status once it has
    exited."""
    header = _header(folder)
    status = int(header["status"])
    return int(header["process"]), status - 1 if status else None


def read_error(folder: Path) -> str:
    """Error by which the runtime ended the program; empty if it did not."""
    error: bytes = _header(folder)["error"]
    return error.decode(errors="replace")


def read_losses(folder: Path) -> dict[Loss, int]:
    """Amount of each kind of action that the records lack."""
    counts = _header(folder)["lost"].tolist()
    return {loss: counts[loss] for loss in Loss if counts[loss]}


def map_records(folder: Path) -> np.ndarray:
    """The used part of the file of records, mapped; None if there is no file."""
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
    """Thread of each id of the kernel's."""
    return {int(head["tid"]): int(head["thread"]) for head, _ in _parts(map_records(folder))}
