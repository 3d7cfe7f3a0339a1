"""Scope-aware oracle for ScoRD.

Ref: ScoRD (ISCA'20) Sections II and III; HRF-relaxed-indirect (Gaster et al., TACO 2015).
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from racetrap.golden_model.barracuda.analysis import (
    NO_RACE,
    RACE_KINDS,
    KernelAnalysis,
    Step,
    merge,
)
from racetrap.golden_model.barracuda.concurrent import concurrent_races, device_atomics
from racetrap.golden_model.barracuda.fences import Fences
from racetrap.golden_model.barracuda.history import Order
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.locations import rows_at, sync_keys
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.barracuda.race import RaceKind, Result
from racetrap.golden_model.barracuda.shadow import Pairs
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.sync import SyncLocation
from racetrap.golden_model.events import AtomicOp, EventKind, Scope, lanes_of
from racetrap.golden_model.trace import Trace

_UNORDERED, _NOT_STRONG, _SCOPED_ATOMIC = (
    RACE_KINDS.index(kind)
    for kind in (RaceKind.UNORDERED, RaceKind.NOT_STRONG, RaceKind.SCOPED_ATOMIC)
)
# Numbers of enumerations' members, which are slow to look up.
_LOAD, _STORE, _ATOMIC, _FENCE = map(int, (
    EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE,
))  # fmt: skip
_CAS = int(AtomicOp.CAS)
#: What a CAS that takes a lock stores and expects.
_TAKES = (1, 0)


class ScopedOracle:
    """Happens-before race detection in which fences, atomics and strong accesses have scopes.

    * A *release* is a strong store or atomic after a fence of its thread, at the narrower of
      the two scopes; it publishes everything before the fence.
    * An *acquire* is a strong load or an atomic, at its scope.  A CAS that takes a lock (changes
      0 to 1) acquires only with the next fence, at the narrower of the two scopes; a CAS that
      fails acquires and releases nothing.
    * Release and acquire of one location synchronise if each one's scope includes the other
      thread.  All order is transitive.
    * Atomics race if they conflict, are not ordered, and the scope of one excludes the other
      thread.
    * Kernels and copies that no stream, event or host wait orders race if they conflict,
      unless both accesses are atomics of device scope.
    * Fences and scopes order strong accesses only: a pair with a weak access must be ordered by
      program order, lockstep and barriers alone.
    """

    def run(self, trace: Trace) -> Result:
        """Races and barrier divergences of all kernels of a trace, and races between them."""
        kernels = [_Analysis(kernel).run() for kernel in kernels_of(trace)]
        return merge([*kernels, concurrent_races(trace, device_atomics(trace.events))])


class _Analysis(KernelAnalysis):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        events = kernel.events
        self._atomic = (kernel.kind == EventKind.ATOMIC) | neighbours(kernel).named
        self._strong = events["strong"] != 0
        self._device = events["scope"] == Scope.DEVICE
        self._sync: defaultdict[int, SyncLocation] = defaultdict(SyncLocation)
        self._fences: defaultdict[int, Fences] = defaultdict(Fences)

    def checked(self) -> np.ndarray:
        return self.kernel.accesses

    def exempt(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        block = self.kernel.block
        included = block[first] == block[second]
        included |= self._device[first] & self._device[second]
        exempt: np.ndarray = self._atomic[first] & self._atomic[second] & included
        return exempt

    def race_kinds(self, pairs: Pairs, order: Order) -> np.ndarray:
        strong = self._strong[pairs.first] & self._strong[pairs.second]
        atomic = self._atomic[pairs.first] & self._atomic[pairs.second]
        kind = np.where(atomic, _SCOPED_ATOMIC, _UNORDERED)
        kind[order.any & ~strong] = _NOT_STRONG
        kind[order.near | (order.any & strong)] = NO_RACE
        return kind

    def synchronising(self) -> np.ndarray:
        kernel = self.kernel
        fences = np.flatnonzero(kernel.kind == EventKind.FENCE)
        first_fence = np.full(len(kernel.warp_block), len(kernel.events))
        np.minimum.at(first_fence, kernel.warp[fences], fences)
        strong = kernel.accesses[self._strong[kernel.accesses]]
        releases = strong[
            (kernel.kind[strong] != EventKind.LOAD) & (strong > first_fence[kernel.warp[strong]])
        ]
        if not len(releases):
            return releases
        return np.union1d(fences, rows_at(kernel, strong, sync_keys(kernel, releases)))

    def synchronise(self, step: Step, warp: Warp) -> None:
        if step.kind == _FENCE:
            mask = step.mask & warp.active
            self._fences[warp.place.warp].fence(warp, mask, step.device, step.row)
            return
        lanes = list(zip(lanes_of(step.mask), step.places, strict=True))
        cas = step.kind == _ATOMIC and step.op == _CAS
        if cas:
            lanes = [lane for lane in lanes if step.success >> lane[0] & 1]
        if step.kind != _STORE:
            takers = self._takers(step) if cas else 0
            self._acquire(lanes, takers, warp, step.device)
        if step.kind != _LOAD:
            self._release(lanes, warp, step.device)

    def _takers(self, step: Step) -> int:
        """Mask of the lanes whose CAS, if it succeeds, takes a lock."""
        records = self.kernel.lanes[self.kernel.lane_slice(step.row)].tolist()
        lanes = zip(lanes_of(step.mask), records, strict=True)
        return sum(1 << lane for lane, record in lanes if record[1:] == _TAKES)

    def _acquire(self, lanes: list[tuple[int, int]], takers: int, warp: Warp, device: bool) -> None:
        fences, block = self._fences[warp.place.warp], warp.place.block
        known = {}
        for lane, place in lanes:
            location = self._sync.get(place)
            if location is None:
                continue
            if takers >> lane & 1:
                fences.take(lane, location.of_block(block), location.for_all if device else None)
                continue
            for each in (location.of_block(block), location.for_all)[: 1 + device]:
                known[id(each)] = each
        warp.acquire(*known.values())

    def _release(self, lanes: list[tuple[int, int]], warp: Warp, device: bool) -> None:
        fences, block = self._fences[warp.place.warp], warp.place.block
        for lane, place in lanes:
            fence, device_fence = fences.last[lane], fences.last_device[lane]
            if fence is None:
                continue
            location = self._sync[place]
            location.release_to_block(block, fence)
            if device and device_fence is not None:
                location.release_to_all(device_fence)
