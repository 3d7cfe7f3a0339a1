"""A GPU trace in memory: header and records, always valid; made from events or from a file."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import numpy as np

from racetrap.golden_model.events import (
    ACCESS_KINDS,
    WARP_SIZE,
    AtomicOp,
    Event,
    EventKind,
    Lane,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace.container.atomic_write import replacing
from racetrap.golden_model.trace.container.columns import fill
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.gpu.binary_writer import dump_binary
from racetrap.golden_model.trace.gpu.records import EVENT_DTYPE, LANE_DTYPE
from racetrap.golden_model.trace.gpu.rules import check_rules
from racetrap.golden_model.trace.gpu.text_writer import dump_text

__all__ = ["Trace"]

#: Events turned into Python objects at a time: large enough to hide NumPy's cost of a call.
_BLOCK = 4096

_KINDS = tuple(EventKind)
_SCOPES = tuple(Scope)
_OPS = tuple(AtomicOp)
_SPACES = tuple(Space)
#: Highest code of a kind with lanes.
_LAST_ACCESS = max(ACCESS_KINDS)
_LANELESS = frozenset(EventKind) - ACCESS_KINDS
_FLAGS = (False, True)


@lru_cache(maxsize=4096)
def _lanes_of(mask: int) -> tuple[int, ...]:
    """Numbers of the set bits, ascending."""
    return tuple(lane for lane in range(WARP_SIZE) if mask >> lane & 1)


def _pack_lanes(
    events: list[Event], where: Callable[[int], str]
) -> tuple[list[int], list[int], list[Lane], list[int]]:
    """Masks, success masks, and all lanes with the number of the event of each."""
    masks: list[int] = []
    successes: list[int] = []
    lanes: list[Lane] = []
    rows: list[int] = []
    for row, event in enumerate(events):
        mask = success = 0
        for lane in event.lanes:
            number = lane.lane
            if not 0 <= number < WARP_SIZE or mask >> number:
                raise TraceError(
                    where(row), Rule.LANES,
                    f"Lanes must be ascending and below {WARP_SIZE}, "
                    f"not {', '.join(str(lane.lane) for lane in event.lanes)}",
                )  # fmt: skip
            mask |= 1 << number
            if lane.success:
                success |= 1 << number
        if event.lanes and event.kind in _LANELESS:
            name = EventKind(event.kind).name.lower()
            raise TraceError(where(row), Rule.UNUSED_FIELD, f"Lanes must be none in {name}")
        if event.lanes and event.mask:
            raise TraceError(where(row), Rule.UNUSED_FIELD, "Mask must be 0 where lanes are given")
        masks.append(mask or event.mask)
        successes.append(success)
        lanes += event.lanes
        rows += [row] * len(event.lanes)
    return masks, successes, lanes, rows


def _event_number(row: int) -> str:
    return f"event {row}" if row >= 0 else "trace"


class Trace:
    """Header and events of a trace; every trace object obeys the rules of the format.

    Iterating gives ``Event`` objects, made block by block from the arrays.

    Parameters
    ----------
    header : TraceHeader
        What the trace says about itself.
    events, lanes : numpy.ndarray
        Records of ``EVENT_DTYPE`` and ``LANE_DTYPE``; may be mapped from a file.
    where : callable, optional
        Name of the place of an event, from its number, for error messages; of the whole
        trace, from -1.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    def __init__(
        self,
        header: TraceHeader,
        events: np.ndarray,
        lanes: np.ndarray,
        where: Callable[[int], str] = _event_number,
    ):
        check_rules(header, events, lanes, where)
        self.header = header
        self.events = events
        self.lanes = lanes

    @classmethod
    def from_events(
        cls,
        header: TraceHeader,
        events: Iterable[Event],
        where: Callable[[int], str] = _event_number,
    ) -> Trace:
        """Trace of the given events; raises ``TraceError`` if they break a rule."""
        rows = list(events)
        masks, successes, lanes, lane_rows = _pack_lanes(rows, where)
        event_records = np.zeros(len(rows), dtype=EVENT_DTYPE)
        for name in Event._fields:
            if name not in ("lanes", "mask"):
                column = Event._fields.index(name)
                fill(event_records, name, [row[column] for row in rows], where)
        fill(event_records, "lane_mask", masks, where)
        event_records["success_mask"] = successes
        counts = [len(row.lanes) for row in rows]
        event_records["first_lane"] = np.cumsum(counts, dtype=np.int64) - counts
        lane_records = np.zeros(len(lanes), dtype=LANE_DTYPE)
        for name in LANE_DTYPE.names or ():
            column = Lane._fields.index(name)
            values = [lane[column] for lane in lanes]
            fill(lane_records, name, values, lambda lane: where(lane_rows[lane]))
        return cls(header, event_records, lane_records, where)

    def write_binary(self, path: str | os.PathLike[str]) -> None:
        """Write the binary form."""
        with replacing(path) as file:
            dump_binary(self, file)

    def write_text(self, path: str | os.PathLike[str]) -> None:
        """Write the text form."""
        with replacing(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            dump_text(self, text)
            text.detach()

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        for start in range(0, len(self.events), _BLOCK):
            records = self.events[start : start + _BLOCK]
            # Rule 15 makes the lane records of consecutive events consecutive.
            first = int(records["first_lane"][0])
            end = start + len(records)
            last = int(self.events["first_lane"][end]) if end < len(self) else len(self.lanes)
            yield from _unpack(records.tolist(), self.lanes[first:last].tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return (
            self.header == other.header
            and np.array_equal(self.events, other.events)
            and np.array_equal(self.lanes, other.lanes)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Trace({self.header!r}, {len(self.events)} events, {len(self.lanes)} lanes)"


def _unpack(records: list[tuple[int, ...]], lanes: list[tuple[int, int, int]]) -> Iterator[Event]:
    """Events of consecutive records, given all their lane records."""
    next_lane = 0
    for (
        kind, scope, strong, op, size, slot, warp, warp_count,
        sm, pc, grid_block, mask, success, space, _,
    ) in records:  # fmt: skip
        active: tuple[Lane, ...] = ()
        if kind <= _LAST_ACCESS:
            numbers = _lanes_of(mask)
            own = lanes[next_lane : next_lane + len(numbers)]
            next_lane += len(numbers)
            active = tuple(
                [
                    Lane(number, address, value, compare, _FLAGS[success >> number & 1])
                    for number, (address, value, compare) in zip(numbers, own, strict=True)
                ]
            )
            mask = 0
        yield Event(
            _KINDS[kind], sm, slot, warp, _SCOPES[scope], _FLAGS[strong], _OPS[op], pc, size,
            active, warp_count, grid_block, _SPACES[space], mask,
        )  # fmt: skip
