"""Rules of GPU traces (6 to 24, 37, 38): event records and lanes, by array operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from racetrap.golden_model.events import (
    ACCESS_KINDS,
    ACCESS_SIZES,
    ATOMIC_SIZES,
    COPY_KINDS,
    LANE_KINDS,
    AtomicOp,
    EventKind,
    Geometry,
    TraceHeader,
)
from racetrap.golden_model.trace.container.arrays import bit_counts
from racetrap.golden_model.trace.container.event_rules import below, field_violations
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, violation
from racetrap.golden_model.trace.gpu.divergence import divergence_violation
from racetrap.golden_model.trace.gpu.operations import order_violation
from racetrap.golden_model.trace.gpu.placement import placement_violations, rank_violation
from racetrap.golden_model.trace.gpu.schema import GPU_SCHEMA, LANE_DTYPE

#: Kinds that need at least one lane.
_NAMING_LANES = LANE_KINDS | {EventKind.IF, EventKind.ELSE}


def _geometry_violations(geometry: Geometry, events: np.ndarray) -> Iterator[RuleViolation]:
    yield below(Rule.GEOMETRY, events, "sm", geometry.sm_count)
    yield below(Rule.GEOMETRY, events, "slot", geometry.blocks_per_sm)
    yield below(Rule.GEOMETRY, events, "warp", geometry.warps_per_sm)
    first, count = events["warp"].astype(np.int64), events["warp_count"]
    yield violation(
        Rule.GEOMETRY,
        (events["kind"] == EventKind.BLOCK_PLACED)
        & ((count == 0) | (first + count > geometry.warps_per_sm)),
        lambda row: (
            f"Field warp_count must be from 1 to {geometry.warps_per_sm - first[row]} "
            f"from warp {first[row]} on, not {count[row]}"
        ),
    )


def _size(events: np.ndarray, kinds: Iterable[EventKind], sizes: tuple[int, ...]) -> RuleViolation:
    kind, size = events["kind"], events["size"]
    return violation(
        Rule.SIZE,
        GPU_SCHEMA.having(kinds)[kind] & ~np.isin(size, sizes),
        lambda row: (
            f"Field size must be one of {', '.join(map(str, sizes))} in "
            f"{GPU_SCHEMA.name(kind[row])}, not {size[row]}"
        ),
    )


def _access_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    kind, mask = events["kind"], events["mask"]
    atomic = kind == EventKind.ATOMIC
    yield violation(
        Rule.ATOMIC_STRONG,
        atomic & (events["strong"] != 1),
        lambda row: f"Field strong must be 1 in atomic, not {events['strong'][row]}",
    )
    yield _size(events, ACCESS_KINDS, ACCESS_SIZES)
    yield _size(events, (EventKind.ATOMIC,), ATOMIC_SIZES)
    yield violation(
        Rule.LANES,
        GPU_SCHEMA.having(_NAMING_LANES)[kind] & (mask == 0),
        lambda row: f"Event {GPU_SCHEMA.name(kind[row])} has no lanes",
    )
    success, cas = events["success_mask"], atomic & (events["op"] == AtomicOp.CAS)
    yield violation(
        Rule.LANE_VALUES,
        ((success & ~mask) != 0) | ((success != 0) & ~cas),
        lambda row: (
            f"Success must be given only for active lanes of a CAS, not for lanes {success[row]:#x}"
        ),
    )


class _LaneRules:
    """Rules of the lane records; ``ends`` has the end of each event's lane records."""

    def __init__(self, events: np.ndarray, lanes: np.ndarray, counts: np.ndarray):
        self._events = events
        self._lanes = lanes
        self._counts = counts
        self._ends = np.cumsum(counts)
        self._size = np.repeat(events["size"], counts)
        self._copied = np.repeat(GPU_SCHEMA.having(COPY_KINDS)[events["kind"]], counts)

    def _violation(self, rule: Rule, broken: np.ndarray, name: str, words: str) -> RuleViolation:
        """Violation whose sentence names the first offending value of a lane's field."""
        broken_lanes = np.flatnonzero(broken)
        rows = np.searchsorted(self._ends, broken_lanes, side="right")
        value = int(self._lanes[name][broken_lanes[0]]) if len(broken_lanes) else 0
        return RuleViolation(
            rule,
            rows,
            lambda row: f"{words.format(size=self._events['size'][row])}, not {value:#x}",
        )

    def alignment(self) -> RuleViolation:
        offset = self._lanes["address"] & (self._size - np.uint8(1)).astype(np.uint64)
        words = "Address must be a multiple of the size {size}"
        return self._violation(Rule.ALIGNMENT, (offset != 0) & ~self._copied, "address", words)

    def ranges(self) -> RuleViolation:
        address, size = self._lanes["address"], self._lanes["value"]
        # The last byte of a range, which wraps if the range passes the end of the address space.
        last = address + size - np.uint64(1)
        words = "Bytes of a copy must be at least one and end in the address space"
        return self._violation(
            Rule.ALIGNMENT, self._copied & ((size == 0) | (last < address)), "value", words
        )

    def belongs(self, name: str, users: np.ndarray, where: str) -> RuleViolation:
        strays = (self._lanes[name] != 0) & ~np.repeat(users, self._counts)
        words = f"Field {name} of a lane must be 0 except in {where}"
        return self._violation(Rule.LANE_VALUES, strays, name, words)

    def width(self, name: str) -> RuleViolation:
        values = self._lanes[name]
        # A shift by 64 is undefined in NumPy, and fields of full width are never too wide.
        bits = (np.minimum(self._size, 7) * np.uint8(8)).astype(np.uint64)
        wide = (self._size < 8) & ~self._copied & (values >> bits != 0)
        words = f"Field {name} of a lane must fit in {{size}} bytes"
        return self._violation(Rule.VALUE_WIDTH, wide, name, words)


def _lane_violations(events: np.ndarray, lanes: np.ndarray) -> Iterator[RuleViolation]:
    kind = events["kind"]
    has_lanes = GPU_SCHEMA.having(LANE_KINDS)[kind]
    counts = np.where(has_lanes, bit_counts(events["mask"]), 0)
    starts = np.cumsum(counts) - counts
    first = events["first_lane"]
    yield violation(
        Rule.LANE_RECORDS,
        first != starts.astype(np.uint64),
        lambda row: f"First lane record must be {starts[row]}, not {first[row]}",
    )
    total = counts.sum()
    whole_trace = np.array([-1] if total != len(lanes) else [], dtype=np.int64)
    yield RuleViolation(
        Rule.LANE_RECORDS,
        whole_trace,
        lambda row: f"Lane records must be {total} as the lane masks say, not {len(lanes)}",
    )
    rules = _LaneRules(events, lanes, counts)
    yield rules.alignment()
    yield rules.ranges()
    atomic, store = kind == EventKind.ATOMIC, kind == EventKind.STORE
    copy = GPU_SCHEMA.having(COPY_KINDS)[kind]
    cas = atomic & (events["op"] == AtomicOp.CAS)
    exch = atomic & (events["op"] == AtomicOp.EXCH)
    wide_store = store & (events["size"] == LANE_DTYPE["value"].itemsize * 2)
    yield rules.belongs("compare", cas | wide_store, "a CAS or a store of 16 bytes")
    yield rules.belongs("value", cas | exch | store | copy, "a CAS, an EXCH, a store or a copy")
    yield rules.width("compare")
    yield rules.width("value")


def rule_violations(
    header: TraceHeader, events: np.ndarray, lanes: np.ndarray
) -> Iterator[RuleViolation]:
    """Violations of rules 6 to 24, 37 and 38, in turn: a later one may rely on those before it.

    Parameters
    ----------
    header : TraceHeader
        Geometry of the GPU.
    events, lanes : numpy.ndarray
        Records of ``EVENT_DTYPE`` and ``LANE_DTYPE``.
    """
    yield from field_violations(GPU_SCHEMA, events)
    yield from _geometry_violations(header.geometry, events)
    yield from _access_violations(events)
    yield from _lane_violations(events, lanes)
    yield from placement_violations(events)
    yield divergence_violation(events)
    yield order_violation(events)
    yield rank_violation(events)
