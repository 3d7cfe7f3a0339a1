"""Plain form of the merge of the raw records of all threads: the compiled one's specification.

A thread's virtual time is the number of instructions that it has committed, as if every thread
had a core of its own; where it waits for others its time advances to theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import ATOMIC_KINDS, ORDER_BITS, ThreadEventKind
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.sim.cpu import raw as raw_records
from racetrap.sim.cpu.raw import RAW_DTYPE, RawFrame

_LIFE_BY_VALUE = (ThreadEventKind.CREATE, ThreadEventKind.JOIN)
_LIFE_BY_THREAD = (ThreadEventKind.BEGIN, ThreadEventKind.END)
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


def read_streams(folder: Path) -> list[RawStream]:
    """Streams of all threads by number; of a thread that never ran, an empty one."""
    parts: dict[int, list[np.ndarray]] = {}
    for head, records in raw_records._parts(raw_records.map_records(folder)):
        parts.setdefault(int(head["thread"]), []).append(records)
    nothing = [np.empty(0, RAW_DTYPE)]
    return [
        _stream(np.concatenate(parts.get(number, nothing)))
        for number in range(max(parts, default=-1) + 1)
    ]


def _complete(raw: np.ndarray) -> np.ndarray:
    """The records up to the first empty one, without a last one whose extension is missing."""
    tags = raw["tag"]
    # Only the last part of a thread has empty records, all at its end.
    count = int(np.searchsorted(tags == 0, True))
    if count:
        last = int(tags[count - 1])
        if last < raw_records._FRAME and last - 1 not in _UNORDERED:
            count -= 1
    return raw[:count]


def _stream(raw: np.ndarray) -> RawStream:
    raw = _complete(raw)
    tags = raw["tag"]
    rows = np.flatnonzero(tags < raw_records._FRAME)
    extensions = np.flatnonzero(tags == raw_records._EXTENSION)
    instructions = raw["instructions"][rows].astype(np.uint32)
    fillers = np.flatnonzero(tags == raw_records._FILLER)
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
                *(raw[name][tags == raw_records._FRAME].tolist() for name in ("address", "pc")),
                strict=True,
            )
        ],
    )


def _frames_of(raw: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Frame of each event: that of the latest record of one before it."""
    changes = np.flatnonzero(raw["tag"] == raw_records._IN_FRAME)
    numbers = np.concatenate([[0], raw["pc"][changes]]).astype(np.uint32)
    frames = numbers[np.searchsorted(changes, rows)]
    return np.where(raw["tag"][rows] - 1 <= ThreadEventKind.ATOMIC_UPDATE, frames, 0)


def _objects(thread: int, stream: RawStream) -> np.ndarray:
    """What each ordered event is ordered on: an address, or a thread as a negative number."""
    kind = stream.kind[stream.ordered]
    objects = stream.address[stream.ordered].astype(np.int64)
    by_value = np.isin(kind, _LIFE_BY_VALUE)
    objects[by_value] = -1 - stream.value[by_value].astype(np.int64)
    objects[np.isin(kind, _LIFE_BY_THREAD)] = -1 - thread
    return objects


def _ordered(streams: Sequence[RawStream], times: Sequence[np.ndarray]) -> Iterator[list[int]]:
    """Thread, object and own time of all ordered events, by sequence number."""
    threads = np.concatenate([np.full(len(s.ordered), t) for t, s in enumerate(streams)])
    objects = np.concatenate([_objects(thread, stream) for thread, stream in enumerate(streams)])
    own = np.concatenate([time[s.ordered] for s, time in zip(streams, times, strict=True)])
    order = np.argsort(np.concatenate([stream.sequence for stream in streams]), kind="stable")
    return zip(threads[order].tolist(), objects[order].tolist(), own[order].tolist(), strict=True)  # type: ignore[return-value]


def _waits(streams: Sequence[RawStream], times: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Time that each thread has waited, before each of its ordered events."""
    waited = [0] * len(streams)
    waits: list[list[int]] = [[] for _ in streams]
    last: dict[int, int] = {}
    get = last.get
    for thread, object_, own in _ordered(streams, times):
        time = own + waited[thread]
        before = get(object_, -1)
        if time <= before:
            waited[thread] += before + 1 - time
            time = before + 1
        last[object_] = time
        waits[thread].append(waited[thread])
    return [np.array(wait, np.int64) for wait in waits]


def _virtual_times(streams: Sequence[RawStream]) -> list[np.ndarray]:
    times = [np.cumsum(stream.instructions, dtype=np.int64) for stream in streams]
    for stream, time, wait in zip(streams, times, _waits(streams, times), strict=True):
        steps = np.diff(wait, prepend=0)
        late = np.flatnonzero(steps)
        if len(late):
            shift = np.zeros(len(time), np.int64)
            shift[stream.ordered[late]] = steps[late]
            time += np.cumsum(shift)
    return times


def common_frames(
    streams: Sequence[RawStream],
) -> tuple[dict[int, RawFrame], list[np.ndarray]]:
    """Frames of all threads by common numbers from 1, each once, and for each thread the common
    number of each of its own."""
    numbers: dict[RawFrame, int] = {}
    of_threads = []
    for stream in streams:
        own = [0]
        for frame in stream.frames:
            common = frame._replace(caller=own[frame.caller])
            own.append(numbers.setdefault(common, len(numbers) + 1))
        of_threads.append(np.array(own, np.uint32))
    return {number: frame for frame, number in numbers.items()}, of_threads


def _records(thread: int, stream: RawStream, frames: np.ndarray) -> np.ndarray:
    records = np.zeros(len(stream), THREAD_DTYPE)
    for name in ("kind", "address", "size", "pc", "instructions"):
        records[name] = getattr(stream, name)
    records["thread"] = thread
    of_frames = frames[stream.frame]
    is_atomic = np.isin(stream.kind, list(ATOMIC_KINDS))
    records["value"] = np.where(is_atomic, of_frames << ORDER_BITS, of_frames)
    records["value"][stream.ordered] |= stream.value
    return records


def interleave(streams: Sequence[RawStream], most: int | None = None) -> np.ndarray:
    """Merge the streams of all threads into one array of ``THREAD_DTYPE``.

    A thread that had not ended with the program gets its END at the end, in the order of the
    threads' numbers; one that was created but never ran gets its BEGIN there, too.

    Parameters
    ----------
    streams : sequence of RawStream
        Events of each thread, by number.
    most : int or None
        Events after which the order is cut off.
    """
    times = np.concatenate(_virtual_times(streams))
    order = np.argsort(times, kind="stable")[:most]
    _, frames = common_frames(streams)
    records = np.concatenate(
        [_records(thread, stream, frames[thread]) for thread, stream in enumerate(streams)]
    )
    records = records[order]
    return np.concatenate([records, _endings(records)])


def _endings(records: np.ndarray) -> np.ndarray:
    """Begins and ends that are missing of the threads that were created."""

    def threads(kind: ThreadEventKind, field: str = "thread") -> set[int]:
        return set(records[field][records["kind"] == kind].tolist())

    begun, ended = threads(ThreadEventKind.BEGIN), threads(ThreadEventKind.END)
    rows = []
    for thread in sorted({0} | threads(ThreadEventKind.CREATE, "value")):
        if thread not in begun:
            rows.append((ThreadEventKind.BEGIN, thread))
        if thread not in ended:
            rows.append((ThreadEventKind.END, thread))
    endings = np.zeros(len(rows), THREAD_DTYPE)
    endings["kind"] = [kind for kind, _ in rows]
    endings["thread"] = [thread for _, thread in rows]
    return endings
