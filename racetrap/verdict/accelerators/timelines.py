"""Timelines of races with accelerators: maintenance of the cache, syncs and accesses to the same
lines beside the two operations.

The CPU's operations are those of one thread, an engine's those of another.  A race within the CPU
is one of two ways to memory: through the cache, past it, or by maintenance.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from racetrap.golden_model.noncoherent.races import Origin, Race
from racetrap.golden_model.noncoherent.rules import kind_name, missing
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    DMA_KINDS,
    ENGINE_KINDS,
    MAINTENANCE,
    RANGE_KINDS,
    SYNCS,
    MemorySystem,
    Operation,
    OperationKind,
)
from racetrap.verdict.line_pairs import place_of
from racetrap.verdict.timeline import Moment, Sort, Timeline
from racetrap.verdict.tracks import Track, near, timeline_of_tracks

_KIND = OperationKind
_WAYS = {
    "cached": frozenset({_KIND.CACHED_READ, _KIND.CACHED_WRITE}),
    "uncached": frozenset({_KIND.UNCACHED_READ, _KIND.UNCACHED_WRITE}),
    "maintenance": MAINTENANCE,
}


def timeline_of(race: Race, trace: NoncoherentTrace, memory: MemorySystem) -> Timeline:
    """What the CPU and an engine, or both ways to memory, did around the operations of a race.

    Parameters
    ----------
    race : Race
        A race in the trace.
    trace : NoncoherentTrace
        The trace.
    memory : MemorySystem
        The hardware.
    """
    race = replace(race, earlier=_touching_origin(race, trace.events))
    origins = race.earlier, race.later
    tracks = [_Track(race, *each, trace, memory) for each in (origins, origins[::-1])]
    words, _ = missing(race.rule, race.overlap)
    return timeline_of_tracks(tracks, (tracks[0].name, tracks[1].name), words)


class _Track(Track):
    """The CPU, one of its ways to memory, or an engine.

    Parameters
    ----------
    race : Race
        The race.
    origin, other : Origin
        Its operation, and that of the other one.
    trace, memory : NoncoherentTrace, MemorySystem
        The trace and its hardware.

    Attributes
    ----------
    name : str
        Its name.
    """

    def __init__(
        self, race: Race, origin: Origin, other: Origin, trace: NoncoherentTrace,
        memory: MemorySystem,
    ) -> None:  # fmt: skip
        self._race, self._events, self._header = race, trace.events, trace.header
        self._lines = race.first & -memory.line_bytes, race.last | memory.line_bytes - 1
        _, self._remedies = missing(race.rule, race.overlap)
        begin, window = near(trace.events, origin.number)
        kind, engine, pc = (window[name] for name in ("kind", "engine", "pc"))
        numbers = np.arange(len(window)) + begin
        self.name, own = _named_rows(origin, other, window)
        touching = _touching(window, *self._lines)
        remedies = touching & _are(kind, self._remedies)
        remedies &= (kind != _KIND.SYNC) | (engine == race.earlier.engine)
        self._late = _first(numbers[remedies], race.later.number)
        if origin.kind in DMA_KINDS:
            end = _first(numbers[own & _are(kind, SYNCS)], origin.number)
            self.band = origin.number, end, "DMA in flight"
        elif origin == race.earlier and origin.kind == _KIND.CACHED_WRITE:
            end = _first(numbers[touching & _are(kind, MAINTENANCE)], origin.number)
            self.band = origin.number, end, "dirty in the cache"
        # An operation without a PC is an instruction of its own.
        known = pc.astype(np.int64) << 16 | kind.astype(np.int64) << 8 | engine
        instructions = np.where(pc != 0, known, -1 - numbers)[own]
        may_order = touching | _are(kind, MAINTENANCE)
        super().__init__(origin.number, numbers[own], instructions, may_order[own], remedies[own])

    def moment(self, event: int, side: int) -> Moment:
        """An operation in words, with its bytes."""
        operation = Operation(*(int(self._events[event][name]) for name in Operation._fields))
        kind, name = operation.kind, ""
        if kind in RANGE_KINDS:
            size = operation.size * max(operation.rows, 1)
            name = f"{operation.address:#x}, {size} B"
        words = kind_name(kind) + " starts" * (kind in DMA_KINDS)
        words += f" with engine {operation.engine}" * (kind == _KIND.SYNC)
        sort = Sort.ORDER if kind in MAINTENANCE | SYNCS else Sort.ACCESS
        place = place_of(operation.pc, self._header.locations) if operation.pc else ""
        lack = self._lack(event)
        return Moment(event, (side,), words, name, place or f"operation {event}", sort, lack=lack)

    def _lack(self, event: int) -> str:
        """Why an operation of a kind that is missing does not help."""
        record = self._events[event]
        if event == self._late:
            return "too late"
        if record["kind"] not in self._remedies:
            return ""
        if not self._race.earlier.number < event < self._race.later.number:
            return ""
        if record["kind"] == _KIND.SYNC:
            return "other engine"
        return "too early" if _touching(record, *self._lines) else "other bytes"


def _touching_origin(race: Race, events: np.ndarray) -> Origin:
    """The earlier operation: of those at one place, which have one origin in a race, the last that
    has accessed the bytes."""
    earlier = race.earlier
    begin, window = near(events, earlier.number)
    window = window[: earlier.number - begin + 1]
    alike = _touching(window, race.first, race.last)
    for name in ("kind", "engine", "pc"):
        alike &= window[name] == getattr(earlier, name)
    found = np.flatnonzero(alike)
    # Without a PC every operation is a place of its own.
    is_other = earlier.pc and len(found)
    return earlier._replace(number=begin + int(found[-1])) if is_other else earlier


def _touching(records: np.ndarray, first: int, last: int) -> np.ndarray:
    """Which operations have bytes in a range, between those of their first and last rows, or no
    range."""
    rows = np.maximum(records["rows"], 1).astype(np.uint64)
    start = records["address"]
    end = start + (rows - np.uint64(1)) * records["stride"] + records["size"]
    is_there = (start <= np.uint64(last)) & (end > np.uint64(first))
    return is_there | ~_are(records["kind"], RANGE_KINDS)


def _named_rows(origin: Origin, other: Origin, window: np.ndarray) -> tuple[str, np.ndarray]:
    """Name of the track of an operation beside the other, and which operations are its own."""
    kind = window["kind"]
    if origin.kind in DMA_KINDS:
        own = _are(kind, ENGINE_KINDS) & (window["engine"] == origin.engine)
        return f"engine {origin.engine}", own | (kind == _KIND.SYNC_ALL)
    if other.kind in DMA_KINDS:
        return "CPU", ~_are(kind, DMA_KINDS)
    way = next(way for way, kinds in _WAYS.items() if origin.kind in kinds)
    # Maintenance is of the cache, unless it is the other way.
    more = MAINTENANCE if way == "cached" and other.kind not in MAINTENANCE else frozenset()
    return f"CPU, {way}", _are(kind, _WAYS[way] | more)


def _are(kind: np.ndarray, kinds: Collection[OperationKind]) -> np.ndarray:
    """Which operations are of some kinds."""
    return np.isin(kind, list(kinds))


def _first(numbers: np.ndarray, after: int) -> int | None:
    """The first of ascending numbers after another."""
    at = int(np.searchsorted(numbers, after, side="right"))
    return int(numbers[at]) if at < len(numbers) else None
