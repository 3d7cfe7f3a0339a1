"""Rules 6 to 18: each event record and its lanes, checked with whole-array operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from racetrap.golden_model.events import ACCESS_SIZES, ATOMIC_SIZES, EventKind, TraceHeader
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace.placement import placement_breaches
from racetrap.golden_model.trace.records import USED_FIELDS, Breach, Rule, TraceError

__all__ = ["check_rules"]

_ACCESS_KINDS = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC)
_BIT_COUNT = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)


def _name(kind: int) -> str:
    return EventKind(kind).name.lower()


def _lookup(kinds: tuple[int, ...] | list[EventKind]) -> np.ndarray:
    """Table over all kinds: whether the kind is one of ``kinds``."""
    return np.isin(np.arange(len(EventKind)), kinds)


def _count_bits(masks: np.ndarray) -> np.ndarray:
    """Number of set bits of each 32-bit mask."""
    octets = np.ascontiguousarray(masks).view(np.uint8).reshape(-1, 4)
    counts: np.ndarray = _BIT_COUNT[octets].sum(axis=1, dtype=np.int64)
    return counts


def _breach(rule: Rule, broken: np.ndarray, describe: Callable[[int], str]) -> Breach:
    return Breach(rule, np.flatnonzero(broken), describe)


def _code_breaches(events: np.ndarray) -> Iterator[Breach]:
    kind = events["kind"]
    yield _breach(
        Rule.KIND,
        kind >= len(EventKind),
        lambda row: f"Kind must be a code below {len(EventKind)}, not {kind[row]}",
    )
    for name, count in (("scope", len(Scope)), ("strong", 2), ("op", len(AtomicOp))):
        values = events[name]
        yield _breach(
            Rule.CODE,
            values >= count,
            lambda row, name=name, count=count, values=values: (  # type: ignore[misc]
                f"Field {name} must be a code below {count}, not {values[row]}"
            ),
        )
    yield _breach(
        Rule.RESERVED,
        events["reserved"] != 0,
        lambda row: f"Reserved bytes must be 0, not {events['reserved'][row]:#x}",
    )


def _unused_breaches(events: np.ndarray) -> Iterator[Breach]:
    for name in events.dtype.names or ():
        if name in ("kind", "reserved", "first_lane"):
            continue
        users = _lookup([user for user, used in USED_FIELDS.items() if name in used])
        values = events[name]
        yield _breach(
            Rule.UNUSED_FIELD,
            (values != 0) & ~users[events["kind"]],
            lambda row, name=name, values=values: (  # type: ignore[misc]
                f"Field {name} must be 0 in {_name(events['kind'][row])}, not {values[row]}"
            ),
        )


def _geometry_breaches(header: TraceHeader, events: np.ndarray) -> Iterator[Breach]:
    geometry = header.geometry
    for name, count in (
        ("sm", geometry.sm_count),
        ("slot", geometry.blocks_per_sm),
        ("warp", geometry.warps_per_sm),
    ):
        values = events[name]
        yield _breach(
            Rule.GEOMETRY,
            values >= count,
            lambda row, name=name, count=count, values=values: (  # type: ignore[misc]
                f"Field {name} must be below {count}, not {values[row]}"
            ),
        )
    count, last = events["warp_count"], events["warp"].astype(np.int64) + events["warp_count"]
    yield _breach(
        Rule.GEOMETRY,
        (events["kind"] == EventKind.BLOCK_PLACED)
        & ((count == 0) | (last > geometry.warps_per_sm)),
        lambda row: (
            f"Field warp_count must be from 1 to {geometry.warps_per_sm - events['warp'][row]} "
            f"from warp {events['warp'][row]} on, not {count[row]}"
        ),
    )


def _access_breaches(events: np.ndarray) -> Iterator[Breach]:
    kind, size, mask = events["kind"], events["size"], events["lane_mask"]
    atomic = kind == EventKind.ATOMIC
    access = _lookup(_ACCESS_KINDS)[kind]
    yield _breach(
        Rule.ATOMIC_STRONG,
        atomic & (events["strong"] == 0),
        lambda row: "Field strong must be 1 in atomic, not 0",
    )
    for rows, sizes in ((access, ACCESS_SIZES), (atomic, ATOMIC_SIZES)):
        yield _breach(
            Rule.SIZE,
            rows & ~np.isin(size, sizes),
            lambda row, sizes=sizes: (  # type: ignore[misc]
                f"Field size must be one of {', '.join(map(str, sizes))} in {_name(kind[row])}, "
                f"not {size[row]}"
            ),
        )
    yield _breach(
        Rule.LANES,
        access & (mask == 0),
        lambda row: f"Lanes of {_name(kind[row])} must be at least one, not none",
    )
    success, cas = events["success_mask"], atomic & (events["op"] == AtomicOp.CAS)
    yield _breach(
        Rule.ATOMIC_VALUES,
        ((success & ~mask) != 0) | ((success != 0) & ~cas),
        lambda row: (
            f"Success must be given only for active lanes of a CAS, not for lanes {success[row]:#x}"
        ),
    )


def _lane_breaches(
    events: np.ndarray, lanes: np.ndarray, where: Callable[[int], str]
) -> Iterator[Breach]:
    counts = _count_bits(events["lane_mask"])
    ends = np.cumsum(counts)
    first = events["first_lane"]
    yield _breach(
        Rule.LANE_RECORDS,
        first != (ends - counts).astype(np.uint64),
        lambda row: f"First lane record must be {ends[row] - counts[row]}, not {first[row]}",
    )
    total = int(ends[-1]) if len(ends) else 0
    if total != len(lanes):
        raise TraceError(
            where(-1), Rule.LANE_RECORDS,
            f"Number of lane records must be {total}, as the lane masks say, not {len(lanes)}",
        )  # fmt: skip

    def lane_breach(
        rule: Rule, broken: np.ndarray, name: str, describe: Callable[[int, int], str]
    ) -> Breach:
        broken_lanes = np.flatnonzero(broken)
        rows = np.searchsorted(ends, broken_lanes, side="right")
        value = int(lanes[name][broken_lanes[0]]) if len(broken_lanes) else 0
        return Breach(rule, rows, lambda row: describe(row, value))

    size = np.repeat(events["size"], counts)
    yield lane_breach(
        Rule.ALIGNMENT,
        (lanes["address"] & (size - np.uint8(1)).astype(np.uint64)) != 0,
        "address",
        lambda row, value: (
            f"Address must be a multiple of the size {events['size'][row]}, not {value:#x}"
        ),
    )
    atomic = events["kind"] == EventKind.ATOMIC
    cas = atomic & (events["op"] == AtomicOp.CAS)
    exch = atomic & (events["op"] == AtomicOp.EXCH)
    for name, users, words in (
        ("compare", cas, "a CAS"),
        ("value", cas | exch, "a CAS or EXCH"),
    ):
        values = lanes[name]
        yield lane_breach(
            Rule.ATOMIC_VALUES,
            (values != 0) & ~np.repeat(users, counts),
            name,
            lambda row, value, name=name, words=words: (  # type: ignore[misc]
                f"Field {name} of a lane must be 0 but in {words}, not {value:#x}"
            ),
        )
        yield lane_breach(
            Rule.VALUE_WIDTH,
            (size == 4) & (values >> np.uint64(32) != 0),
            name,
            lambda row, value, name=name: (  # type: ignore[misc]
                f"Field {name} of a lane must fit in the size 4, not {value:#x}"
            ),
        )


def _breaches(
    header: TraceHeader, events: np.ndarray, lanes: np.ndarray, where: Callable[[int], str]
) -> Iterator[Breach]:
    """Every rule in turn: a later one may rely on those before it."""
    yield from _code_breaches(events)
    yield from _unused_breaches(events)
    yield from _geometry_breaches(header, events)
    yield from _access_breaches(events)
    yield from _lane_breaches(events, lanes, where)
    yield from placement_breaches(events)


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
    for rule, rows, describe in _breaches(header, events, lanes, where):
        if len(rows):
            row = int(rows[0])
            raise TraceError(where(row), rule, describe(row))
