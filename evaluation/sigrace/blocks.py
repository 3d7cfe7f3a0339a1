"""Blocks of the NumPy engine: all blocks of a program, in the order of their arrival at the RDM.

Ref: SigRace (ISCA'09) Sections 3.2, 4.1 and 5.3.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from racetrap.evaluation.sigrace.execution import Execution, ThreadRows
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, Form, SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2

__all__ = ["Blocks", "make_blocks"]

_GRANULE_BITS = ADDRESS_BITS - GRANULE_LOG2


class Blocks(NamedTuple):
    """Blocks that are sent, in the order of their arrival at the RDM.

    Parameters
    ----------
    thread, epoch, cause : ndarray of int64, one for each block
        Thread; its own counter in the block's timestamp; ``Cause`` of the end.
    event : ndarray of int64, one for each block
        Number of the event that ended it; for a SWITCH of the event before which it ended.
    interval : ndarray of int64, one for each block
        Checkpoints before its end.
    committed : ndarray of int64, one for each block
        Instructions of its thread since that checkpoint, at its end.
    total : ndarray of int64, one for each block
        Instructions of all threads since the start of the program, at its end.
    first : ndarray of int64, two for each block and one more
        Set ``2 b`` is what block b read, ``2 b + 1`` what it wrote: first granule of each set.
    granule : ndarray of int64
        Granules (bits 31 to 2 of the address) of all sets, ascending in each, each once.
    """

    thread: np.ndarray
    epoch: np.ndarray
    cause: np.ndarray
    event: np.ndarray
    interval: np.ndarray
    committed: np.ndarray
    total: np.ndarray
    first: np.ndarray
    granule: np.ndarray


class _Ends(NamedTuple):
    """Ends of a thread's blocks, empty ones left out."""

    granule: list[int]  # first granule of the block after
    start: list[int]  # first granule of the block
    row: list[int]  # rows of the thread that are over
    cause: list[int]
    place: list[int]  # twice the event's number, and 1 if the event itself ended the block


def make_blocks(execution: Execution, params: SigraceParams, sync_only: bool = False) -> Blocks:
    """Blocks as the core units of the golden model make them.

    Parameters
    ----------
    execution : Execution
        The program.
    params : SigraceParams
        Form, limits and block size.
    sync_only : bool
        Whether blocks end at synchronisations only (and at checkpoints), whatever their size.

    Raises
    ------
    ValueError
        If the program has more threads than there are contexts or counters.
    """
    most = min(params.threads, params.cores * params.contexts)
    if len(execution.threads) > most:
        raise ValueError(
            f"Threads of the trace must be at most {most}, not {len(execution.threads)}"
        )
    limit = None if sync_only else params.block_instructions
    ends = [_ThreadBlocks(execution, rows, params, limit).run() for rows in execution.threads]
    order, thread = _arrival(params, ends)
    columns = [np.concatenate([getattr(end, name) for end in ends]).astype(np.int64)
               for name in ("row", "cause", "place")]  # fmt: skip
    row, cause, place = (column[order] for column in columns)
    event = place >> 1
    checkpoints = np.array(execution.checkpoints, np.int64)
    interval = np.searchsorted(checkpoints * 2, place, side="left")
    committed, epoch = np.empty_like(row), np.empty_like(row)
    total = execution.committed[event]
    for number, rows in enumerate(execution.threads):
        mine = thread == number
        starts = np.append(0, np.searchsorted(rows.event, checkpoints))
        committed[mine] = rows.committed[row[mine]] - rows.committed[starts[interval[mine]]]
        # The epoch of the last row that is over; sync_reached itself is in the epoch it ends.
        epoch[mine] = execution.epochs.epoch[rows.event[row[mine] - 1]]
        # A block can end within the instructions of an event.
        before = rows.committed[np.searchsorted(rows.event, event[mine])]
        total[mine] += np.where(place[mine] & 1, rows.committed[row[mine]] - before, 0)
    first, granule = _sets(execution.threads, ends, order)
    return Blocks(thread, epoch, cause, event, interval, committed, total, first, granule)


class _ThreadBlocks:
    """Finds the ends of one thread's blocks."""

    def __init__(
        self, execution: Execution, rows: ThreadRows, params: SigraceParams, limit: int | None
    ) -> None:
        self._rows = rows
        self._stops = _stops(execution, rows)
        self._limit = limit
        self._collected = rows.collected.tolist()
        self._first = rows.first.tolist()
        self._next_end = _next_true(rows.can_end).tolist()
        self._usb_limit = params.usb_limit if params.form is Form.SETS else None
        usb = rows.granule >> params.lsb_bits - GRANULE_LOG2
        self._previous = _previous(usb * 2 + rows.is_write)
        self._ends = _Ends([], [], [], [], [])
        self._start = 0  # first granule of the block

    def run(self) -> _Ends:
        """Go through the thread from end to end."""
        base = 0  # instructions counted before the block
        for stop, cause, place in self._stops:
            while True:
                end = self._limit_end(base)
                is_limit = end <= stop
                end = end if is_limit else stop
                full = self._full(self._first[end])
                if full is not None:
                    row = int(self._rows.row[full])
                    self._end(full, row + 1, Cause.FULL, self._place(row))
                    base = self._collected[row + 1]
                    continue
                if is_limit:
                    self._end(self._first[end], end, Cause.LIMIT, self._place(end - 1))
                else:
                    self._end(self._first[end], end, cause, place)
                base = self._collected[end]
                if not is_limit:
                    break
        return self._ends

    def _limit_end(self, base: int) -> int:
        """Rows that are over when the block ends by its length."""
        if self._limit is None:
            return len(self._collected)
        enough = bisect_left(self._collected, base + self._limit)
        return self._next_end[min(enough - 1, len(self._next_end) - 1)] + 1

    def _full(self, end: int) -> int | None:
        """First granule before ``end`` that a set of the block has no room for."""
        start, limit = self._start, self._usb_limit
        if limit is None or end - start <= limit:
            return None
        new = start + np.flatnonzero(self._previous[start:end] < start)
        if len(new) <= limit:
            return None
        is_write = self._rows.is_write[new]
        found = [one[limit] for one in (new[~is_write], new[is_write]) if len(one) > limit]
        return int(min(found)) if found else None

    def _end(self, granule: int, row: int, cause: int, place: int) -> None:
        if granule > self._start:
            for column, value in zip(
                self._ends, (granule, self._start, row, cause, place), strict=True
            ):
                column.append(value)
        self._start = granule

    def _place(self, row: int) -> int:
        return 2 * int(self._rows.event[row]) + 1


def _stops(execution: Execution, rows: ThreadRows) -> list[tuple[int, int, int]]:
    """Rows over, cause and place of every end that does not depend on the block's size."""
    syncs = np.flatnonzero(rows.is_sync)
    stops = [
        (row + 1, int(Cause.SYNC), 2 * event + 1)
        for row, event in zip(syncs.tolist(), rows.event[syncs].tolist(), strict=True)
    ]
    for event in [*execution.checkpoints, len(execution.trace.events)]:
        row = int(np.searchsorted(rows.event, event))
        stops.append((row, int(Cause.SWITCH), 2 * event))
    return sorted(stops, key=lambda stop: stop[2])


def _next_true(flags: np.ndarray) -> np.ndarray:
    """For each position, and the end, the first true position from there on, or the length."""
    positions = np.append(np.where(flags, np.arange(len(flags)), len(flags)), len(flags))
    return np.minimum.accumulate(positions[::-1])[::-1]


def _previous(values: np.ndarray) -> np.ndarray:
    """Position of the same value before each position, or -1."""
    order = np.argsort(values, kind="stable")
    same = values[order][1:] == values[order][:-1]
    result = np.full(len(values), -1, np.int64)
    result[order[1:][same]] = order[:-1][same]
    return result


def _arrival(params: SigraceParams, ends: list[_Ends]) -> tuple[np.ndarray, np.ndarray]:
    """Order of the blocks of all threads, and the thread of each after sorting.

    At a checkpoint the cores' blocks end one after the other, context by context.
    """
    thread = np.repeat(np.arange(len(ends)), [len(end.row) for end in ends])
    place = np.concatenate([np.array(end.place, np.int64) for end in ends])
    core, context = thread % params.cores, thread // params.cores
    order = np.lexsort((context, core, place))  # stable: a thread's blocks stay in order
    return order, thread[order]


def _sets(
    threads: list[ThreadRows], ends: list[_Ends], order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Granules of all sets: first of each, and the granules."""
    arrival = np.empty(len(order), np.int64)
    arrival[order] = np.arange(len(order))
    keys, done = [], 0
    for rows, end in zip(threads, ends, strict=True):
        sizes = np.array(end.granule, np.int64) - np.array(end.start, np.int64)
        block = np.repeat(arrival[done : done + len(sizes)], sizes)
        # Blocks follow each other without a gap: every collected granule is in one.
        keys.append((block * 2 + rows.is_write) << _GRANULE_BITS | rows.granule)
        done += len(sizes)
    unique = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    first = np.searchsorted(unique >> _GRANULE_BITS, np.arange(2 * len(order) + 1))
    return first, unique & (1 << _GRANULE_BITS) - 1
