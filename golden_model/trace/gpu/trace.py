"""GPU trace in memory, always valid; made from events or from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from racetrap.golden_model.events import (
    LANE_KINDS,
    WARP_SIZE,
    AtomicOp,
    Event,
    EventKind,
    EventScope,
    Lane,
    MemoryOrder,
    Space,
    TraceHeader,
    lanes_of,
)
from racetrap.golden_model.trace.container.columns import BLOCK_EVENTS, event_records, fill
from racetrap.golden_model.trace.container.event_text import event_words
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, TraceError, Where
from racetrap.golden_model.trace.container.trace import BaseTrace
from racetrap.golden_model.trace.gpu.event_line import LANELESS_KINDS, read_event
from racetrap.golden_model.trace.gpu.lanes import lane_words
from racetrap.golden_model.trace.gpu.rules import rule_violations
from racetrap.golden_model.trace.gpu.schema import COUNTED_KINDS, GPU_SCHEMA, LANE_DTYPE

_KINDS = tuple(EventKind)
_SCOPES = tuple(EventScope)
_OPS = tuple(AtomicOp)
_SPACES = tuple(Space)
_ORDERS = tuple(MemoryOrder)
_HAS_LANES = [kind in LANE_KINDS for kind in EventKind]
_FLAGS = (False, True)


class Trace(BaseTrace[TraceHeader, Event]):
    """Header, events and lanes of a run of a GPU.

    Iterating gives ``Event`` objects, made block by block from the records.

    Parameters
    ----------
    header : TraceHeader
        Header of the trace.
    events, lanes : numpy.ndarray
        Records of ``EVENT_DTYPE`` and ``LANE_DTYPE``; may be mapped from a file.
    where : callable, optional
        Place of an event, from its number, for error messages; of the whole trace, from -1.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    schema = GPU_SCHEMA
    kind = "a trace of a GPU"
    accesses = "lane accesses", "lanes"

    @property
    def addresses(self) -> np.ndarray:
        """Addresses of the lanes of all accesses."""
        return self.lanes["address"]

    @property
    def lanes(self) -> np.ndarray:
        """Records of the lanes of all accesses."""
        return self.tables[1]

    @property
    def has_clusters(self) -> bool:
        """Whether blocks are in clusters of several."""
        events = self.events
        return bool(((events["kind"] == EventKind.BLOCK_PLACED) & (events["size"] > 0)).any())

    @property
    def instructions(self) -> np.ndarray:
        """Instructions that the warp of each event has run since its event before, this one
        included; 0 where they are not counted."""
        is_counted = GPU_SCHEMA.having(COUNTED_KINDS)[self.events["kind"]]
        return np.where(is_counted, self.events["grid_block"], np.uint32(0))

    def with_instructions(self, rows: Sequence[int], counts: Sequence[int]) -> Trace:
        """The trace with counts of instructions at some of its events.

        Parameters
        ----------
        rows, counts : sequence of int
            Numbers of events, and their counts, which are left out where none may be.
        """
        events, at = self.events.copy(), np.array(rows, np.int64)
        is_counted = GPU_SCHEMA.having(COUNTED_KINDS)[events["kind"][at]]
        events["grid_block"][at[is_counted]] = np.array(counts, np.uint32)[is_counted]
        return Trace.of_checked(self.header, events, self.lanes)

    @property
    def totals(self) -> dict[str, int]:
        """Instructions of warps, if they are counted."""
        counted = int(self.instructions.sum(dtype=np.uint64))
        return {"instructions": counted} if counted else {}

    def _violations(self) -> Iterator[RuleViolation]:
        return rule_violations(self.header, self.events, self.lanes)

    @classmethod
    def _tables_of(cls, events: list[Event], where: Where) -> tuple[np.ndarray, ...]:
        masks, successes = _lane_masks(events, where)
        records = event_records(GPU_SCHEMA, events, where, mask=masks)
        records["success_mask"] = successes
        counts = [len(event.lanes) for event in events]
        records["first_lane"] = np.cumsum(counts, dtype=np.int64) - counts
        rows = np.repeat(np.arange(len(events)), counts)
        active = [lane for event in events for lane in event.lanes]
        lanes = np.zeros(len(active), dtype=LANE_DTYPE)
        for name in LANE_DTYPE.names or ():
            values = [getattr(lane, name) for lane in active]
            fill(lanes, name, values, lambda lane: where(int(rows[lane])))
        return records, lanes

    @classmethod
    def _event_of(cls, words: list[str]) -> Event:
        return read_event(words)

    def _words_of(self, event: Event) -> list[str]:
        words = event_words(GPU_SCHEMA, event)
        return [*words, "lanes", *lane_words(event)] if event.lanes else words

    def __iter__(self) -> Iterator[Event]:
        for start in range(0, len(self.events), BLOCK_EVENTS):
            records = self.events[start : start + BLOCK_EVENTS]
            # Rule 14 makes the lane records of consecutive events consecutive.
            first = int(records["first_lane"][0])
            end = start + len(records)
            last = int(self.events["first_lane"][end]) if end < len(self) else len(self.lanes)
            yield from _unpack(records.tolist(), self.lanes[first:last].tolist())


def _lane_masks(events: list[Event], where: Where) -> tuple[list[int], list[int]]:
    """Masks of the active lanes, or the events' own, and of the lanes that succeeded."""
    masks: list[int] = []
    successes: list[int] = []
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
        if event.lanes and event.kind in LANELESS_KINDS:
            name = GPU_SCHEMA.name(event.kind)
            raise TraceError(
                where(row), Rule.UNUSED_FIELD, f"Lanes have no meaning in {name}: leave them out"
            )
        if event.lanes and event.mask:
            raise TraceError(where(row), Rule.UNUSED_FIELD, "Mask must be 0 where lanes are given")
        masks.append(mask or event.mask)
        successes.append(success)
    return masks, successes


def _unpack(records: list[tuple[int, ...]], lanes: list[tuple[int, int, int]]) -> Iterator[Event]:
    """Events of consecutive records, given all their lane records."""
    next_lane = 0
    for (
        kind, scope, strong, op, size, slot, warp, warp_count,
        sm, pc, grid_block, mask, success, space, order, _,
    ) in records:  # fmt: skip
        active: tuple[Lane, ...] = ()
        if _HAS_LANES[kind]:
            numbers = lanes_of(mask)
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
            active, warp_count, grid_block, _SPACES[space], mask, _ORDERS[order],
        )  # fmt: skip
