"""Races between kernels and copies that no stream, event or host wait orders.

Inside a kernel the oracles compare threads; between operations all threads are alike: an operation
as a whole either comes after another or is concurrent with it.

Ref: CUDA C++ Programming Guide (13.0), "Asynchronous Concurrent Execution".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.race import Party, Race, RaceClass, RaceKind, Result
from racetrap.golden_model.barracuda.report import party
from racetrap.golden_model.events import EventKind, Scope, Space, lanes_of
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.container.arrays import bit_counts, ranges
from racetrap.golden_model.trace.gpu.operations import Operations


class _Accesses(NamedTuple):
    """Accesses of an operation to global memory; each instruction counts once per address.

    Parameters
    ----------
    start, end : numpy.ndarray
        First byte, and the one after the last.
    pc, event : numpy.ndarray
        Program counter, and event in the trace.
    writes, strong : numpy.ndarray
        Whether it writes, and whether it may conflict with other strong ones.
    """

    start: np.ndarray
    end: np.ndarray
    pc: np.ndarray
    event: np.ndarray
    writes: np.ndarray
    strong: np.ndarray

    def at(self, rows: np.ndarray) -> _Accesses:
        """Some of them."""
        return _Accesses(*(column[rows] for column in self))


class _Operation:
    """A kernel or a copy.

    Parameters
    ----------
    trace : Trace
        Trace that it is part of.
    begin, end : int
        Its first event, and the one after its last.
    kernel : int
        Number of the latest launch, including its own.
    strong : numpy.ndarray
        As of ``concurrent_races``.
    """

    def __init__(self, trace: Trace, begin: int, end: int, kernel: int, strong: np.ndarray) -> None:
        self._trace, self._begin, self._end = trace, begin, end
        self._kernel, self._strong = kernel, strong
        self._is_copy = trace.events["kind"][begin] != EventKind.KERNEL_BEGIN

    @property
    def number(self) -> int:
        """Number of the latest launch."""
        return self._kernel

    @cached_property
    def accesses(self) -> _Accesses:
        """Its accesses."""
        events = self._trace.events[self._begin : self._end]
        if self._is_copy:
            rows = np.zeros(1, dtype=np.int64)
        else:
            is_global = events["space"] == Space.GLOBAL
            rows = np.flatnonzero((events["kind"] <= EventKind.ATOMIC) & is_global)
        counts = bit_counts(events["mask"][rows])
        lanes = self._trace.lanes[ranges(events["first_lane"][rows].astype(np.int64), counts)]
        owner = np.repeat(rows, counts)
        kind = events["kind"][owner]
        sizes = lanes["value"] if self._is_copy else events["size"][owner].astype(np.uint64)
        strong = self._strong[owner + self._begin]
        found = _Accesses(
            lanes["address"], lanes["address"] + sizes, events["pc"][owner], owner + self._begin,
            (kind != EventKind.LOAD) & (kind != EventKind.COPY_READ), strong,
        )  # fmt: skip
        columns = (found.start, found.end, found.pc, found.writes, found.strong)
        keys = np.stack([column.astype(np.uint64) for column in columns])
        _, first = np.unique(keys, axis=1, return_index=True)
        return found.at(np.sort(first))

    def party(self, event: int, address: int) -> Party:
        """Access of an event of the operation to a byte."""
        record = self._trace.events[event]
        if self._is_copy:
            return Party(0, 0, int(record["pc"]), EventKind(record["kind"]), event)
        kernel = Kernel(self._trace, self._kernel, self._begin, self._end - 1)
        row = event - self._begin
        addresses = kernel.lanes[kernel.lane_slice(row)]["address"].tolist()
        lanes = zip(lanes_of(kernel.mask(row)), addresses, strict=True)
        size = int(record["size"])
        return party(kernel, row, next(n for n, first in lanes if first <= address < first + size))


def _operations(trace: Trace, rows: np.ndarray, strong: np.ndarray) -> list[_Operation]:
    kind = trace.events["kind"]
    ends = iter(np.flatnonzero(kind == EventKind.KERNEL_END).tolist())
    found, kernels = [], 0
    for begin in rows.tolist():
        is_kernel = bool(kind[begin] == EventKind.KERNEL_BEGIN)
        kernels += is_kernel
        end = next(ends) + 1 if is_kernel else begin + 1
        found.append(_Operation(trace, begin, end, max(kernels - 1, 0), strong))
    return found


def _unordered(operations: Operations) -> Iterator[tuple[int, int]]:
    """Pairs of concurrent operations, the earlier in the trace first."""
    for second, before in enumerate(operations.before):
        concurrent = ~before & ((1 << second) - 1)
        while concurrent:
            lowest = concurrent & -concurrent
            yield lowest.bit_length() - 1, second
            concurrent ^= lowest


def _covered(accesses: _Accesses, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Segments between borders that accesses cover, and their accesses, by segment."""
    low = np.searchsorted(borders, accesses.start)
    counts = np.searchsorted(borders, accesses.end) - low
    segments, owner = ranges(low, counts), np.repeat(np.arange(len(low)), counts)
    order = np.argsort(segments, kind="stable")
    return segments[order], owner[order]


def _conflicts(first: _Accesses, second: _Accesses) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of accesses, one of each operation, that have a byte in common and conflict."""
    if not len(first.start) or not len(second.start):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if first.end.max() <= second.start.min() or second.end.max() <= first.start.min():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    borders = np.unique(np.concatenate((first.start, first.end, second.start, second.end)))
    segments, one = _covered(first, borders)
    others, other = _covered(second, borders)
    low, high = np.searchsorted(segments, others), np.searchsorted(segments, others, side="right")
    pairs = np.stack((one[ranges(low, high - low)], np.repeat(other, high - low)))
    one, other = np.unique(pairs, axis=1)
    needed = (first.writes[one] | second.writes[other]) & ~(
        first.strong[one] & second.strong[other]
    )
    return one[needed], other[needed]


def _races_of(first: _Operation, second: _Operation) -> Iterator[Race]:
    """The first race of each pair of program counters."""
    earlier, later = first.accesses, second.accesses
    one, other = _conflicts(earlier, later)
    if not len(one):
        return
    keys = np.stack((earlier.pc[one], later.pc[other]))
    _, where, instances = np.unique(keys, axis=1, return_index=True, return_counts=True)
    for place, count in sorted(zip(where.tolist(), instances.tolist(), strict=True)):
        a, b = one[place], other[place]
        address = int(max(earlier.start[a], later.start[b]))
        yield Race(
            RaceKind.UNORDERED, RaceClass.INTER_LAUNCH, Space.GLOBAL, address,
            first.party(int(earlier.event[a]), address),
            second.party(int(later.event[b]), address), second.number, count,
        )  # fmt: skip


def device_atomics(events: np.ndarray) -> np.ndarray:
    """Which events are atomics of device scope."""
    atomics: np.ndarray = (events["kind"] == EventKind.ATOMIC) & (events["scope"] == Scope.DEVICE)
    return atomics


def are_concurrent(events: np.ndarray) -> bool:
    """Whether nothing orders some of the operations of events."""
    return next(_unordered(Operations.of(events)), None) is not None


def concurrent_races(trace: Trace, strong: np.ndarray) -> Result:
    """Races of a trace between concurrent operations.

    Parameters
    ----------
    trace : Trace
        The trace.
    strong : numpy.ndarray
        Events that may conflict with such events of another kernel or copy.
    """
    order = Operations.of(trace.events)
    pairs = list(_unordered(order))
    operations = _operations(trace, order.rows, strong) if pairs else []
    return Result([
        race
        for first, second in pairs
        for race in _races_of(operations[first], operations[second])
    ])  # fmt: skip
