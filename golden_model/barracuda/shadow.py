"""Shadow memory, laid out in time: pairs of accesses of a kernel that must be ordered.

The paper keeps for each location its last write and the reads since, and checks each access against
them.  Here the whole trace is available, so one sort by location and time gives the same pairs:
every access with the last write before it, and every write with all reads since.  Nothing is kept
for locations that are never written, or that a single warp accesses, which are most.

Pairs are pairs of warp instructions: an access ordered after one lane of an instruction is ordered
after all.

Ref: BARRACUDA (PLDI'17) Sections 3.3.1, 3.3.2 and 4.3.3 (states R and W).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.locations import Lanes, LocationMap
from racetrap.golden_model.events import WARP_SIZE, EventKind

#: Accesses whose locations are processed at a time: bounds the memory of temporary arrays.
_ROWS = 1 << 16
#: Accesses of shared locations that are paired at a time.
_PART = 1 << 21
_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64((1 << 32) - 1)


class Pairs(NamedTuple):
    """Rows of conflicting accesses, sorted by the later one."""

    first: np.ndarray
    second: np.ndarray


#: Selects pairs of rows, given as two arrays, that need no order.
Exempt = Callable[[np.ndarray, np.ndarray], np.ndarray]


class _Touched:
    """Which locations several threads touch, and which are written."""

    def __init__(self) -> None:
        self._actor = np.full(0, -1, dtype=np.int32)
        self._several = np.zeros(0, dtype=bool)
        self._written = np.zeros(0, dtype=bool)

    def _grow(self, count: int) -> None:
        if count > len(self._actor):
            more = max(count, 2 * len(self._actor)) - len(self._actor)
            self._actor = np.concatenate((self._actor, np.full(more, -1, dtype=np.int32)))
            self._several = np.concatenate((self._several, np.zeros(more, dtype=bool)))
            self._written = np.concatenate((self._written, np.zeros(more, dtype=bool)))

    def add(
        self, locations: np.ndarray, actors: np.ndarray, writes: np.ndarray, count: int
    ) -> None:
        """Record accesses to locations below ``count``."""
        self._grow(count)
        known = self._actor[locations]
        self._actor[locations] = actors
        # Of several actors in one call the last is recorded, and the others differ from it.
        strange = ((known >= 0) & (known != actors)) | (self._actor[locations] != actors)
        self._several[locations[strange]] = True
        self._written[locations[writes]] = True

    @property
    def shared(self) -> np.ndarray:
        """For each location whether it can have a race."""
        return self._several & self._written


def _actors(kernel: Kernel, lanes: Lanes, diverged: np.ndarray) -> np.ndarray:
    """A number for each access: the warp's, or the thread's in warps whose lanes have diverged."""
    warp = kernel.warp[lanes.rows]
    actors = np.repeat(warp * WARP_SIZE, lanes.counts)
    own = np.repeat(diverged[warp], lanes.counts)
    if own.any():
        actors[own] += lanes.numbers()[own]
    return actors


def _diverged_warps(kernel: Kernel) -> np.ndarray:
    """For each warp whether its lanes ever diverge."""
    diverged = np.zeros(len(kernel.warp_block), dtype=bool)
    diverged[kernel.warp[kernel.kind == EventKind.IF]] = True
    return diverged


def _shared_accesses(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Accesses that may race: location in the upper half, row in the lower, ascending."""
    diverged = _diverged_warps(kernel)
    places = LocationMap(kernel, rows)
    touched = _Touched()
    kept: list[np.ndarray] = []
    chunks = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    for chunk in chunks:
        lanes = Lanes(kernel, chunk)
        locations, repeats = places.locations(lanes)
        actors = np.repeat(_actors(kernel, lanes, diverged), repeats)
        writes = np.repeat(kernel.kind[chunk] != EventKind.LOAD, lanes.counts)
        touched.add(locations, actors, np.repeat(writes, repeats), places.count)
        kept.append(locations)
    shared = touched.shared
    for number, chunk in enumerate(chunks):
        counts = Lanes(kernel, chunk).counts * places.units(chunk)
        kept[number] = _keys(kept[number], shared, chunk, counts)
    if not kept:
        return np.zeros(0, dtype=np.uint64)
    accesses = np.concatenate(kept)
    accesses.sort()
    return accesses


def _keys(
    locations: np.ndarray, shared: np.ndarray, rows: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Location and row of accesses to shared locations, given the number of locations of each
    row."""
    here = np.flatnonzero(shared[locations])
    owner = np.repeat(np.arange(len(rows), dtype=np.int32), counts)[here]
    keys = locations[here].astype(np.uint64) << _ROW_BITS | rows[owner].astype(np.uint64)
    return keys[_changes(keys)]  # lanes that read one word together count once


def _changes(numbers: np.ndarray) -> np.ndarray:
    """Whether each number differs from the one before it."""
    changes = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=changes[1:])
    return changes


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Each number once, ascending; sorting beats the hashing of ``numpy.unique`` several times."""
    numbers = np.sort(numbers)
    return numbers[_changes(numbers)]


def _parts(accesses: np.ndarray) -> Iterator[np.ndarray]:
    """Sorted accesses in parts without a common location, of bounded size if possible."""
    start = 0
    while start < len(accesses):
        end = min(start + _PART, len(accesses))
        if end < len(accesses):
            border = (accesses[end] >> _ROW_BITS) << _ROW_BITS
            cut = int(np.searchsorted(accesses, border))
            if cut == start:  # one location fills the part
                cut = int(np.searchsorted(accesses, border + (_ROW_MASK + np.uint64(1))))
            end = cut
        yield accesses[start:end]
        start = end


def _pairs(kernel: Kernel, accesses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the pairs of all locations of a part, in no order, with repetitions."""
    accesses = accesses[_changes(accesses)]
    location, row = accesses >> _ROW_BITS, (accesses & _ROW_MASK).astype(np.int64)
    write = kernel.kind[row] != EventKind.LOAD
    place = np.arange(len(accesses))
    start = np.maximum.accumulate(np.where(_changes(location), place, 0))
    last_write = np.empty_like(place)
    last_write[:1] = -1
    last_write[1:] = np.maximum.accumulate(np.where(write, place, -1))[:-1]
    later = np.flatnonzero(last_write >= start)
    next_write = np.minimum.accumulate(np.where(write, place, len(place))[::-1])[::-1]
    read = np.flatnonzero(~write & (next_write < len(place)))
    read = read[location[next_write[read]] == location[read]]
    return (
        np.concatenate((row[last_write[later]], row[read])),
        np.concatenate((row[later], row[next_write[read]])),
    )


def conflicts(kernel: Kernel, rows: np.ndarray, exempt: Exempt) -> Pairs:
    """Pairs of different instructions that a race-free kernel must have ordered.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    rows : numpy.ndarray
        Accesses that take part, ascending.
    exempt : callable
        Selects pairs of rows that need no order; for speed it gets them before they are sorted.
    """
    diverged = _diverged_warps(kernel)
    found = []
    for part in _parts(_shared_accesses(kernel, rows)):
        first, second = _pairs(kernel, part)
        warp = kernel.warp[first]
        lockstep = (warp == kernel.warp[second]) & ~diverged[warp]
        needed = ~lockstep & (first != second)
        first, second = first[needed], second[needed]
        needed = ~exempt(first, second)
        key = second[needed].astype(np.uint64) << _ROW_BITS | first[needed].astype(np.uint64)
        found.append(_distinct(key))
    keys = _distinct(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint64)
    return Pairs((keys & _ROW_MASK).astype(np.int64), (keys >> _ROW_BITS).astype(np.int64))


def same_instruction_conflicts(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Stores among the rows in which lanes store different values to one place.

    Ref: BARRACUDA (PLDI'17) Section 3.3.1 (intra-warp races).
    """
    found = []
    stores = rows[kernel.kind[rows] == EventKind.STORE]
    for start in range(0, len(stores), _ROWS):
        chunk = stores[start : start + _ROWS]
        lanes = Lanes(kernel, chunk)
        address = lanes.field("address")
        owner = np.repeat(np.arange(len(chunk)), lanes.counts)
        # Lanes with ascending addresses, as most have, share no location.
        falls = (address[1:] <= address[:-1]) & (owner[1:] == owner[:-1])
        suspects = np.isin(owner, owner[1:][falls])
        owner, address = owner[suspects], address[suspects]
        value, compare = lanes.field("value")[suspects], lanes.field("compare")[suspects]
        order = np.lexsort((compare, value, address, owner))
        owner, address, value, compare = (each[order] for each in (owner, address, value, compare))
        same = (owner[1:] == owner[:-1]) & (address[1:] == address[:-1])
        differ = (value[1:] != value[:-1]) | (compare[1:] != compare[:-1])
        found.append(chunk[np.unique(owner[1:][same & differ])])
    return np.concatenate(found) if found else stores
