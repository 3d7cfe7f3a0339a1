"""Text form of a GPU trace, writing: one event a line, lanes in ranges where they are regular."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Space, TraceHeader
from racetrap.golden_model.trace.container.text import FIRST_LINE, provenance_lines

if TYPE_CHECKING:
    from racetrap.golden_model.trace.gpu.trace import Trace

__all__ = ["NUMBER_FIELDS", "dump_text"]

_WARP = ("sm", "slot", "warp", "pc")
_ACCESS = (*_WARP, "size")

#: Fields that a line of each kind gives as ``name=number``, in the order of writing; a mask of
#: 0 is not written.
NUMBER_FIELDS: dict[EventKind, tuple[str, ...]] = {
    EventKind.LOAD: _ACCESS,
    EventKind.STORE: _ACCESS,
    EventKind.ATOMIC: _ACCESS,
    EventKind.FENCE: (*_WARP, "mask"),
    EventKind.BARRIER: ("sm", "slot", "pc"),
    EventKind.BLOCK_PLACED: ("sm", "slot", "warp", "warp_count", "grid_block", "mask"),
    EventKind.BLOCK_RETIRED: ("sm", "slot"),
    EventKind.KERNEL_BEGIN: (),
    EventKind.KERNEL_END: (),
    EventKind.IF: (*_WARP, "mask"),
    EventKind.ELSE: (*_WARP, "mask"),
    EventKind.FI: (*_WARP, "mask"),
    EventKind.EXIT: (*_WARP, "mask"),
    EventKind.WARP_BARRIER: (*_WARP, "mask"),
}

_HEXADECIMAL = ("pc", "mask")
#: Shortest run of lanes worth writing as a range.
_SHORTEST_RANGE = 3


def _header_lines(header: TraceHeader, events: int) -> Iterator[str]:
    def numbers(data: dict[str, int]) -> str:
        return " ".join(
            f"{name}={value:#x}" if name == "data_base" else f"{name}={value}"
            for name, value in data.items()
        )

    yield FIRST_LINE
    yield f"system {header.system}"
    yield f"geometry {numbers(asdict(header.geometry))}"
    yield f"region {numbers(asdict(header.region))}"
    yield from provenance_lines(header.source, header.seed, header.locations, events)


def _run_length(lanes: tuple[Lane, ...], start: int) -> int:
    """Lanes from ``start`` on with consecutive numbers, one stride and equal values."""
    first, end = lanes[start], start + 1
    stride = lanes[end].address - first.address if end < len(lanes) else 0
    while (
        end < len(lanes)
        and lanes[end].lane == first.lane + end - start
        and lanes[end].address == first.address + (end - start) * stride
        and lanes[end][2:] == first[2:]
    ):
        end += 1
    return end - start


def _values(event: Event, lane: Lane) -> str:
    if event.kind == EventKind.STORE:
        stored = lane.compare << 64 | lane.value
        return f"={stored:#x}" if stored else ""
    if event.kind != EventKind.ATOMIC or event.op == AtomicOp.OTHER:
        return ""
    if event.op == AtomicOp.EXCH:
        return f"={lane.value:#x}"
    return f"={lane.compare:#x}->{lane.value:#x}:{'ok' if lane.success else 'failed'}"


def _lane_words(event: Event) -> Iterator[str]:
    lanes, start = event.lanes, 0
    while start < len(lanes):
        lane, length = lanes[start], _run_length(lanes, start)
        if length < _SHORTEST_RANGE:
            length = 1
            yield f"{lane.lane}:{lane.address:#x}{_values(event, lane)}"
        else:
            stride = lanes[start + 1].address - lane.address
            yield (
                f"{lane.lane}..{lane.lane + length - 1}:{lane.address:#x}{stride:+d}"
                f"{_values(event, lane)}"
            )
        start += length


def _event_line(event: Event) -> str:
    words = [event.kind.name.lower()]
    for name in NUMBER_FIELDS[event.kind]:
        value = getattr(event, name)
        if name != "mask" or value:
            words.append(f"{name}={value:#x}" if name in _HEXADECIMAL else f"{name}={value}")
    if event.kind in (EventKind.LOAD, EventKind.STORE) and event.strong:
        words.append("strong")
    if event.strong or event.kind == EventKind.FENCE:
        words.append(event.scope.name.lower())
    if event.kind == EventKind.ATOMIC:
        words.append(event.op.name.lower())
    if event.space == Space.SHARED:
        words.append("shared")
    if event.lanes:
        words += ["lanes", *_lane_words(event)]
    return " ".join(words)


def dump_text(trace: Trace, file: TextIO) -> None:
    """Write a trace in its text form."""
    for line in _header_lines(trace.header, len(trace)):
        file.write(line + "\n")
    file.write("\n")
    for event in trace:
        file.write(_event_line(event) + "\n")
