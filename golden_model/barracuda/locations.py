"""Locations of accesses, numbered densely page by page, so that arrays can be indexed by them.

A location is as large as the smallest access to its memory (at most 4 bytes): bytes or half words
where a kernel has such accesses, otherwise words.

Ref: BARRACUDA (PLDI'17) Section 4.3.3 (shadow memory).
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.events import SHARED_BITS, WARP_SIZE, Space
from racetrap.golden_model.trace.container.arrays import bit_counts, ranges, run_starts

_PAGE_BITS = 12
_WORD_BITS = 2
#: Pages of shared memories lie above those of global memory.
_SHARED_PAGE = np.uint64(1 << (64 - _PAGE_BITS))
#: Marks addresses of shared memory; those of global memory have fewer bits on every GPU.
_SHARED_TAG = np.uint64(1 << 63)


class Lanes:
    """Lane records of some accesses.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    rows : numpy.ndarray
        Accesses, ascending.

    Attributes
    ----------
    rows, counts : numpy.ndarray
        The accesses and the number of lanes of each.
    """

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        self._kernel = kernel
        self.rows = rows
        self._masks = kernel.events["mask"][rows]
        self.counts = bit_counts(self._masks)

    def field(self, name: str) -> np.ndarray:
        """A field of all lane records."""
        if not len(self.rows):
            return np.zeros(0, dtype=np.uint64)
        first = self._kernel.events["first_lane"][self.rows].astype(np.int64)
        first -= self._kernel.first_lane
        total = self.counts.sum()
        column: np.ndarray = self._kernel.lanes[name]
        if first[-1] - first[0] == total - self.counts[-1]:  # no other access between
            return np.ascontiguousarray(column[first[0] : first[0] + total])
        gathered: np.ndarray = column[ranges(first, self.counts)]
        return gathered

    def numbers(self) -> np.ndarray:
        """Lane number of each record."""
        bits = np.unpackbits(self._masks.astype("<u4").view(np.uint8), bitorder="little")
        numbers: np.ndarray = np.flatnonzero(bits) % WARP_SIZE
        return numbers.astype(np.int32)


class LocationMap:
    """Numbers of locations, assigned as pages are first seen.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    rows : numpy.ndarray
        Accesses that will be looked up.

    Attributes
    ----------
    count : int
        Locations numbered so far.
    """

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        self._kernel = kernel
        self._first: dict[int, int] = {}
        self.count = 0
        #: Log2 of the bytes of a location, by memory.
        self._bits = np.full(len(Space), _WORD_BITS, dtype=np.int32)
        space, size = kernel.events["space"][rows], kernel.events["size"][rows]
        for each in Space:
            sizes = size[space == each]
            if len(sizes):
                self._bits[each] = min(_WORD_BITS, int(sizes.min()).bit_length() - 1)

    def units(self, rows: np.ndarray) -> np.ndarray:
        """Locations that one lane of each access touches."""
        events = self._kernel.events
        units: np.ndarray = (
            events["size"][rows].astype(np.int64) >> self._bits[events["space"][rows]]
        )
        return units

    def locations(self, lanes: Lanes) -> tuple[np.ndarray, np.ndarray | int]:
        """Locations of all lanes, one after the other, and the number of each lane's."""
        events, rows = self._kernel.events, lanes.rows
        space = events["space"][rows]
        address = lanes.field("address")
        page = address >> np.uint64(_PAGE_BITS)
        if space.any():
            first = self._kernel.cluster[self._kernel.block[rows]].astype(np.uint64)
            tag = _SHARED_PAGE + (first << np.uint64(SHARED_BITS - _PAGE_BITS))
            page = page + np.repeat(np.where(space == Space.SHARED, tag, 0), lanes.counts)
        bits = self._bits[space]
        shift = bits[0] if (bits == bits[0]).all() else np.repeat(bits, lanes.counts)
        within = (address & np.uint64((1 << _PAGE_BITS) - 1)).astype(np.int32) >> shift
        locations = self._first_of(page) + within
        units = self.units(rows)
        if (units == 1).all():
            return locations, 1
        repeats = np.repeat(units, lanes.counts)
        return ranges(locations, repeats).astype(np.int32), repeats

    def _first_of(self, page: np.ndarray) -> np.ndarray:
        """Number of the first location of each page."""
        starts = run_starts(page)
        pages, which = np.unique(page[starts], return_inverse=True)
        first = np.array([self._assign(number) for number in pages.tolist()], dtype=np.int32)
        return np.repeat(first[which], np.diff(starts, append=len(page)))

    def _assign(self, page: int) -> int:
        first = self._first.get(page)
        if first is None:
            first = self._first[page] = self.count
            space = Space.SHARED if page >= _SHARED_PAGE else Space.GLOBAL
            self.count += 1 << (_PAGE_BITS - int(self._bits[space]))
        return first


def sync_keys(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Number of the synchronization location of each lane of some accesses.

    Accesses that overlap but begin at different bytes are different locations.
    """
    lanes = Lanes(kernel, rows)
    address = lanes.field("address")
    space = kernel.events["space"][rows]
    if not space.any():
        return address
    first = kernel.cluster[kernel.block[rows]].astype(np.uint64) << np.uint64(SHARED_BITS)
    tag = np.where(space == Space.SHARED, _SHARED_TAG + first, 0)
    keys: np.ndarray = address + np.repeat(tag, lanes.counts)
    return keys


def rows_at(kernel: Kernel, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Those of some accesses that have a lane at one of these locations."""
    lanes = Lanes(kernel, rows)
    found = np.isin(sync_keys(kernel, rows), keys)
    owner = np.repeat(np.arange(len(rows)), lanes.counts)
    at: np.ndarray = rows[np.unique(owner[found])]
    return at
