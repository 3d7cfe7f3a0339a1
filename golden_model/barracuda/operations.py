"""Trace operations: acquires and releases, inferred from fences next to accesses.

An access is an acquire or a release if a memory fence is next to it in static code.  A trace has no
static code, so neighbours are found in execution order: the neighbour of an access is the nearest
access, fence or barrier of its warp, before or after it, in the same kernel; branches,
reconvergences, exits and warp barriers in between do not count.  A fence is a neighbour only if it
has a lane in common with the access, and the fence of an ``ld.acquire`` or similar only of its own
access.  A program counter is *preceded* (*followed*) by a fence if this holds in at least one
execution in the trace, and by a device fence if one of these fences has device scope.

=========================  =======================================
instruction                operation
=========================  =======================================
store, preceded            release, scope of the fence
load, followed             acquire, scope of the fence
atomic, both               acquire and release, scope of each fence
CAS, followed              acquire
EXCH, preceded             release
any other atomic           atm: orders nothing
any other load or store    rd or wr
=========================  =======================================

Ref: BARRACUDA (PLDI'17) Section 3.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.events import ALL_LANES, AtomicOp, EventKind
from racetrap.golden_model.trace.container.arrays import ranges

#: Scope of a neighbouring fence as a number: no fence, block, device.
NO_FENCE = 0


class Neighbours(NamedTuple):
    """For each event the fence before and after it: 0 none, 1 block scope, 2 device scope.

    ``named`` marks accesses whose fence is part of the same instruction (``ld.acquire``,
    ``st.release``, atomics with an order).
    """

    before: np.ndarray
    after: np.ndarray
    named: np.ndarray


class Operations(NamedTuple):
    """For each event the scope of its acquire and of its release: 0 none, 1 block, 2 device."""

    acquire: np.ndarray
    release: np.ndarray


def _in_order(kernel: Kernel) -> np.ndarray:
    """Rows of accesses, fences and barriers, by warp and time; a barrier once for each warp."""
    own = np.flatnonzero(kernel.kind <= EventKind.FENCE)
    barriers = np.flatnonzero(kernel.kind == EventKind.BARRIER)
    block = kernel.block[barriers]
    count = kernel.warp_count[block]
    barrier_rows = np.repeat(barriers, count)
    warps = np.concatenate((kernel.warp[own], ranges(kernel.first_warp[block], count)))
    rows = np.concatenate((own, barrier_rows))
    order = np.lexsort((rows, warps))
    # A negative number between two warps separates their events.
    rows, warps = rows[order], warps[order]
    ends = np.flatnonzero(warps[1:] != warps[:-1]) + 1
    in_order: np.ndarray = np.insert(rows, ends, -1)
    return in_order


def neighbours(kernel: Kernel) -> Neighbours:
    """Fences next to the accesses of a kernel, in execution order."""
    events, count = kernel.events, len(kernel.events)
    mask = np.where(events["mask"] != 0, events["mask"], np.uint32(ALL_LANES))
    before, after = (np.zeros(count, dtype=np.uint8) for _ in range(2))
    named = np.zeros(count, dtype=bool)
    access_pcs = np.unique(events["pc"][kernel.accesses])
    owned = np.isin(events["pc"], access_pcs)
    rows = _in_order(kernel)
    left, right = rows[:-1], rows[1:]
    for fence, access, found in ((left, right, before), (right, left, after)):
        pairs = (fence >= 0) & (access >= 0)
        pairs &= kernel.kind[fence] == EventKind.FENCE
        pairs &= kernel.kind[access] <= EventKind.ATOMIC
        pairs &= mask[fence] & mask[access] != 0
        same = events["pc"][fence] == events["pc"][access]
        pairs &= same | ~owned[fence]
        fence, access = fence[pairs], access[pairs]
        found[access] = events["scope"][fence] + 1
        named[access] |= same[pairs]
    return Neighbours(before, after, named)


def infer_operations(kernels: list[Kernel]) -> list[Operations]:
    """Acquires and releases of each kernel, by the rules above."""
    found = [neighbours(kernel) for kernel in kernels]
    all_pcs = [np.ascontiguousarray(kernel.events["pc"]) for kernel in kernels]
    pcs = np.unique(np.concatenate(all_pcs)) if kernels else np.zeros(0, dtype=np.uint32)
    before, after = (np.zeros(len(pcs), dtype=np.uint8) for _ in range(2))
    at = [np.searchsorted(pcs, own) for own in all_pcs]
    for own, places in zip(at, found, strict=True):
        np.maximum.at(before, own, places.before)
        np.maximum.at(after, own, places.after)
    return [
        _operations(kernel, before[own], after[own])
        for kernel, own in zip(kernels, at, strict=True)
    ]


def _operations(kernel: Kernel, before: np.ndarray, after: np.ndarray) -> Operations:
    kind, op = kernel.kind, kernel.events["op"]
    load, store, atomic = (
        kind == each for each in (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC)
    )
    both = atomic & (before != NO_FENCE) & (after != NO_FENCE)
    acquires = load | both | (atomic & (op == AtomicOp.CAS))
    releases = store | both | (atomic & (op == AtomicOp.EXCH))
    return Operations(np.where(acquires, after, NO_FENCE), np.where(releases, before, NO_FENCE))
