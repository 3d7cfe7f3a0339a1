"""Shared accesses of a trace: those to memory of several threads, each kind of access once.

Ref: SigRace (ISCA'09) Sections 2.1 and 5.4.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.epochs import EventEpochs
from racetrap.golden_model.trace.container.arrays import ranges, run_starts
from racetrap.golden_model.trace.threads.events import (
    GRANULE_BYTES,
    GRANULE_LOG2,
    WRITE_KINDS,
    ThreadEventKind,
)

_KIND = ThreadEventKind


class SharedAccesses(NamedTuple):
    """Accesses to granules that more than one thread accesses, and at least one writes.

    A *group* is the accesses of one instruction of one thread to the same bytes of one granule; its
    rows are the epochs of these accesses, ascending.  Groups of a granule are adjacent, ordered by
    thread.

    Parameters
    ----------
    granule, location : ndarray of int64, one for each group
        Number of the granule (address / 4), and of its location: reallocated memory is a new
        location.
    thread, pc : ndarray of int64, one for each group
        Thread and instruction.
    is_write, is_atomic : ndarray of bool, one for each group
        Whether it writes, and whether it is atomic.
    bytes_used : ndarray of uint8, one for each group
        A bit for each byte of the granule that is accessed.
    first : ndarray of int64, one for each group and one more
        First row of each group; last, the number of rows.
    epoch, known : ndarray of int64, one for each row
        As in ``EventEpochs``.
    """

    granule: np.ndarray
    location: np.ndarray
    thread: np.ndarray
    pc: np.ndarray
    is_write: np.ndarray
    is_atomic: np.ndarray
    bytes_used: np.ndarray
    first: np.ndarray
    epoch: np.ndarray
    known: np.ndarray


def granule_accesses(events: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every granule that the chosen accesses touch.

    Parameters
    ----------
    events : ndarray
        Records of a trace.
    chosen : ndarray of int64
        Numbers of accesses among them.

    Returns
    -------
    rows, granules : ndarray of int64
        Number of the event, and of the granule (address / 4), in the order of the trace.
    """
    address = events["address"][chosen]
    first = address >> np.uint64(GRANULE_LOG2)
    last = (address + events["size"][chosen] - np.uint64(1)) >> np.uint64(GRANULE_LOG2)
    first, counts = first.astype(np.int64), (last - first).astype(np.int64) + 1
    if not len(counts) or counts.max() == 1:
        return chosen, first
    return np.repeat(chosen, counts), ranges(first, counts)


def shared_accesses(events: np.ndarray, epochs: EventEpochs) -> SharedAccesses:
    """Checked accesses of a trace that can race."""
    chosen = np.flatnonzero((events["kind"] <= _KIND.ATOMIC_UPDATE) & epochs.collected)
    rows, granules = granule_accesses(events, chosen)
    locations = _locations(events, rows, granules)
    order = np.argsort(locations, kind="stable")
    order = order[_is_shared(events, rows[order], locations[order])]
    return _grouped(events, epochs, rows[order], granules[order], locations[order])


def _locations(events: np.ndarray, rows: np.ndarray, granules: np.ndarray) -> np.ndarray:
    """A number for each granule of each access, a new one for each allocation of the granule.

    Accesses before ``free`` are ordered before accesses after the ``malloc`` that returns the same
    memory, by the allocator's own locks, which are not in the trace.
    """
    values, locations = np.unique(granules, return_inverse=True)
    allocations = np.flatnonzero(events["kind"] == _KIND.ALLOCATE)
    if not len(allocations) or not len(rows):
        return locations
    starts = events["address"][allocations]
    ends = starts + events["value"][allocations]
    lows = np.searchsorted(values, (starts >> np.uint64(GRANULE_LOG2)).astype(np.int64))
    last = (ends + np.uint64(GRANULE_BYTES - 1)) >> np.uint64(GRANULE_LOG2)
    highs = np.searchsorted(values, last.astype(np.int64))
    lives = np.zeros(len(values), np.int64)
    life = np.empty(len(rows), np.int64)
    done = 0
    for number, (here, low, high) in enumerate(
        zip(np.searchsorted(rows, allocations).tolist(), lows.tolist(), highs.tolist(), strict=True)
    ):
        if low < high:
            life[done:here] = lives[locations[done:here]]
            done = here
            lives[low:high] = number + 1
    life[done:] = lives[locations[done:]]
    return locations * (len(allocations) + 1) + life


def _is_shared(events: np.ndarray, rows: np.ndarray, locations: np.ndarray) -> np.ndarray:
    """Whether each access, sorted by location, is to one used by several threads, and written."""
    if not len(rows):
        return np.zeros(0, bool)
    firsts = run_starts(locations)
    threads = events["thread"][rows]
    shared = np.minimum.reduceat(threads, firsts) != np.maximum.reduceat(threads, firsts)
    shared &= np.logical_or.reduceat(np.isin(events["kind"][rows], WRITE_KINDS), firsts)
    return np.repeat(shared, np.diff(firsts, append=len(rows)))


def _grouped(
    events: np.ndarray,
    epochs: EventEpochs,
    rows: np.ndarray,
    granules: np.ndarray,
    locations: np.ndarray,
) -> SharedAccesses:
    """Group accesses that are sorted by location, then in the order of the trace."""
    kinds = events["kind"][rows]
    instruction = events["thread"][rows].astype(np.int64) << 38
    instruction |= events["pc"][rows].astype(np.int64) << 6
    instruction |= _bytes_used(events[rows], granules) << 2
    instruction |= np.isin(kinds, WRITE_KINDS).astype(np.int64) << 1
    instruction |= kinds >= _KIND.ATOMIC_LOAD
    order = np.lexsort((instruction, locations))  # stable: epochs of a group ascend already
    rows, granules, locations = rows[order], granules[order], locations[order]
    instruction = instruction[order]
    epoch, known = epochs.epoch[rows], epochs.known[rows]
    kept = run_starts(locations, instruction, epoch, known)
    first = run_starts(locations[kept], instruction[kept])
    group = kept[first]
    return SharedAccesses(
        granule=granules[group],
        location=locations[group],
        thread=instruction[group] >> 38,
        pc=(instruction[group] >> 6) & 0xFFFF_FFFF,
        is_write=(instruction[group] & 2) != 0,
        is_atomic=(instruction[group] & 1) != 0,
        bytes_used=(instruction[group] >> 2 & 0xF).astype(np.uint8),
        first=np.append(first, len(kept)),
        epoch=epoch[kept],
        known=known[kept],
    )


def _bytes_used(accesses: np.ndarray, granules: np.ndarray) -> np.ndarray:
    """A bit for each byte of its granule that each access touches."""
    start = accesses["address"].astype(np.int64) - (granules << GRANULE_LOG2)
    end = np.minimum(start + accesses["size"], GRANULE_BYTES)
    return (1 << end) - (1 << np.maximum(start, 0))
