"""Rules 6 to 17: each event record and its lanes, checked with whole-array operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from racetrap.golden_model.events import (
    ACCESS_SIZES,
    ATOMIC_SIZES,
    AtomicOp,
    EventKind,
    Geometry,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace.container.rules import Breach, Rule, TraceError, check_breaches
from racetrap.golden_model.trace.gpu.divergence import divergence_breach
from racetrap.golden_model.trace.gpu.placement import placement_breaches
from racetrap.golden_model.trace.gpu.records import LANE_DTYPE, USED_FIELDS

__all__ = ["check_rules"]

_PLAIN_KINDS = (EventKind.LOAD, EventKind.STORE)
_ACCESS_KINDS = (*_PLAIN_KINDS, EventKind.ATOMIC)
#: Kinds that say nothing without a lane.
_LANE_KINDS = (*_ACCESS_KINDS, EventKind.IF, EventKind.ELSE)
#: Fields that only some kinds use.
_OPTIONAL_FIELDS = sorted(set().union(*USED_FIELDS.values()))
_BIT_COUNT = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)


def _name(kind: int) -> str:
    return EventKind(kind).name.lower()


def _lookup(kinds: Iterable[EventKind]) -> np.ndarray:
    """Table over all kinds: whether the kind is one of ``kinds``."""
    return np.isin(np.arange(len(EventKind)), list(kinds))


def _count_bits(masks: np.ndarray) -> np.ndarray:
    """Number of set bits of each 32-bit mask."""
    octets = np.ascontiguousarray(masks).view(np.uint8).reshape(-1, 4)
    counts: np.ndarray = _BIT_COUNT[octets].sum(axis=1, dtype=np.int64)
    return counts


def _breach(rule: Rule, broken: np.ndarray, describe: Callable[[int], str]) -> Breach:
    return Breach(rule, np.flatnonzero(broken), describe)


def _below(rule: Rule, events: np.ndarray, name: str, count: int) -> Breach:
    values = events[name]
    return _breach(
        rule, values >= count, lambda row: f"Field {name} must be below {count}, not {values[row]}"
    )


def _code_breaches(events: np.ndarray) -> Iterator[Breach]:
    yield _below(Rule.KIND, events, "kind", len(EventKind))
    yield _below(Rule.CODE, events, "scope", len(Scope))
    yield _below(Rule.CODE, events, "strong", 2)
    yield _below(Rule.CODE, events, "op", len(AtomicOp))
    yield _below(Rule.CODE, events, "space", len(Space))


def _unused(events: np.ndarray, name: str) -> Breach:
    users = _lookup(kind for kind, used in USED_FIELDS.items() if name in used)
    kind, values = events["kind"], events[name]
    return _breach(
        Rule.UNUSED_FIELD,
        (values != 0) & ~users[kind],
        lambda row: f"Field {name} must be 0 in {_name(kind[row])}, not {values[row]}",
    )


def _weak_scope(events: np.ndarray) -> Breach:
    kind, scope = events["kind"], events["scope"]
    return _breach(
        Rule.UNUSED_FIELD,
        (scope != 0) & (events["strong"] == 0) & _lookup(_PLAIN_KINDS)[kind],
        lambda row: f"Field scope must be 0 in a weak {_name(kind[row])}, not {scope[row]}",
    )


def _geometry_breaches(geometry: Geometry, events: np.ndarray) -> Iterator[Breach]:
    yield _below(Rule.GEOMETRY, events, "sm", geometry.sm_count)
    yield _below(Rule.GEOMETRY, events, "slot", geometry.blocks_per_sm)
    yield _below(Rule.GEOMETRY, events, "warp", geometry.warps_per_sm)
    first, count = events["warp"].astype(np.int64), events["warp_count"]
    yield _breach(
        Rule.GEOMETRY,
        (events["kind"] == EventKind.BLOCK_PLACED)
        & ((count == 0) | (first + count > geometry.warps_per_sm)),
        lambda row: (
            f"Field warp_count must be from 1 to {geometry.warps_per_sm - first[row]} "
            f"from warp {first[row]} on, not {count[row]}"
        ),
    )


def _size(events: np.ndarray, kinds: tuple[EventKind, ...], sizes: tuple[int, ...]) -> Breach:
    kind, size = events["kind"], events["size"]
    return _breach(
        Rule.SIZE,
        _lookup(kinds)[kind] & ~np.isin(size, sizes),
        lambda row: (
            f"Field size must be one of {', '.join(map(str, sizes))} in {_name(kind[row])}, "
            f"not {size[row]}"
        ),
    )


def _access_breaches(events: np.ndarray) -> Iterator[Breach]:
    kind, mask = events["kind"], events["lane_mask"]
    atomic = kind == EventKind.ATOMIC
    yield _breach(
        Rule.ATOMIC_STRONG,
        atomic & (events["strong"] == 0),
        lambda row: "Field strong must be 1 in atomic, not 0",
    )
    yield _size(events, _ACCESS_KINDS, ACCESS_SIZES)
    yield _size(events, (EventKind.ATOMIC,), ATOMIC_SIZES)
    yield _breach(
        Rule.LANES,
        _lookup(_LANE_KINDS)[kind] & (mask == 0),
        lambda row: f"Lanes of {_name(kind[row])} must be at least one, not none",
    )
    success, cas = events["success_mask"], atomic & (events["op"] == AtomicOp.CAS)
    yield _breach(
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

    def _breach(self, rule: Rule, broken: np.ndarray, name: str, words: str) -> Breach:
        """Breach whose sentence gives the first offending value of a lane's field."""
        broken_lanes = np.flatnonzero(broken)
        rows = np.searchsorted(self._ends, broken_lanes, side="right")
        value = int(self._lanes[name][broken_lanes[0]]) if len(broken_lanes) else 0
        return Breach(
            rule,
            rows,
            lambda row: f"{words.format(size=self._events['size'][row])}, not {value:#x}",
        )

    def alignment(self) -> Breach:
        offset = self._lanes["address"] & (self._size - np.uint8(1)).astype(np.uint64)
        words = "Address must be a multiple of the size {size}"
        return self._breach(Rule.ALIGNMENT, offset != 0, "address", words)

    def belongs(self, name: str, users: np.ndarray, where: str) -> Breach:
        strays = (self._lanes[name] != 0) & ~np.repeat(users, self._counts)
        words = f"Field {name} of a lane must be 0 except in {where}"
        return self._breach(Rule.LANE_VALUES, strays, name, words)

    def width(self, name: str) -> Breach:
        values = self._lanes[name]
        # NumPy leaves open what a shift by 64 gives: fields of whole records are never too wide.
        bits = (np.minimum(self._size, 7) * np.uint8(8)).astype(np.uint64)
        wide = (self._size < 8) & (values >> bits != 0)
        words = f"Field {name} of a lane must fit in {{size}} bytes"
        return self._breach(Rule.VALUE_WIDTH, wide, name, words)


def _lane_breaches(
    events: np.ndarray, lanes: np.ndarray, where: Callable[[int], str]
) -> Iterator[Breach]:
    counts = np.where(_lookup(_ACCESS_KINDS)[events["kind"]], _count_bits(events["lane_mask"]), 0)
    starts = np.cumsum(counts) - counts
    first = events["first_lane"]
    yield _breach(
        Rule.LANE_RECORDS,
        first != starts.astype(np.uint64),
        lambda row: f"First lane record must be {starts[row]}, not {first[row]}",
    )
    if counts.sum() != len(lanes):
        raise TraceError(
            where(-1), Rule.LANE_RECORDS,
            f"Lane records must be {counts.sum()} as the lane masks say, not {len(lanes)}",
        )  # fmt: skip
    rules = _LaneRules(events, lanes, counts)
    yield rules.alignment()
    atomic, store = events["kind"] == EventKind.ATOMIC, events["kind"] == EventKind.STORE
    cas = atomic & (events["op"] == AtomicOp.CAS)
    exch = atomic & (events["op"] == AtomicOp.EXCH)
    wide_store = store & (events["size"] == LANE_DTYPE["value"].itemsize * 2)
    yield rules.belongs("compare", cas | wide_store, "a CAS or a store of 16 bytes")
    yield rules.belongs("value", cas | exch | store, "a CAS, an EXCH or a store")
    yield rules.width("compare")
    yield rules.width("value")


def _breaches(
    header: TraceHeader, events: np.ndarray, lanes: np.ndarray, where: Callable[[int], str]
) -> Iterator[Breach]:
    """Every rule in turn: a later one may rely on those before it."""
    yield from _code_breaches(events)
    for name in _OPTIONAL_FIELDS:
        yield _unused(events, name)
    yield _weak_scope(events)
    yield from _geometry_breaches(header.geometry, events)
    yield from _access_breaches(events)
    yield from _lane_breaches(events, lanes, where)
    yield from placement_breaches(events)
    yield divergence_breach(events)


def check_rules(
    header: TraceHeader, events: np.ndarray, lanes: np.ndarray, where: Callable[[int], str]
) -> None:
    """Check rules 6 to 24 on the arrays of a trace.

    Parameters
    ----------
    header : TraceHeader
        Gives the geometry.
    events, lanes : numpy.ndarray
        Records of ``EVENT_DTYPE`` and ``LANE_DTYPE``.
    where : callable
        Name of the place of an event, from its number; of the whole trace, from -1.

    Raises
    ------
    TraceError
        For the first event that breaks the first broken rule.
    """
    check_breaches(_breaches(header, events, lanes, where), where)
