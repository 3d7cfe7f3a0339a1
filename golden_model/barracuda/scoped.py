"""The scope-aware oracle: ground truth for ScoRD.

Ref: ScoRD (ISCA'20) Sections II and III; HRF-relaxed-indirect (Gaster et al., TACO 2015).
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from racetrap.golden_model.barracuda.analysis import NO_RACE, RACE_KINDS, KernelAnalysis, merge
from racetrap.golden_model.barracuda.fences import Fences
from racetrap.golden_model.barracuda.history import Order
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.locations import rows_at, sync_keys
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.barracuda.race import RaceKind, Result
from racetrap.golden_model.barracuda.shadow import Pairs
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.sync import SyncLocation
from racetrap.golden_model.events import WARP_SIZE, EventKind
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace import Trace

__all__ = ["ScopedOracle"]

_UNORDERED, _NOT_STRONG, _SCOPED_ATOMIC = (
    RACE_KINDS.index(kind)
    for kind in (RaceKind.UNORDERED, RaceKind.NOT_STRONG, RaceKind.SCOPED_ATOMIC)
)
#: What a CAS that takes a lock stores and expects.
_TAKES = (1, 0)


class ScopedOracle:
    """Happens-before race detection in which fences, atomics and strong accesses have scopes.

    * A *release* is a strong store or atomic behind a fence of its thread, at the narrower of
      the two scopes; it publishes what came before the fence.
    * An *acquire* is a strong load or an atomic, at its scope.  A CAS that takes a lock (changes
      0 to 1) acquires only with the next fence, at the narrower of the two scopes; a CAS that
      fails acquires and releases nothing.
    * Release and acquire of one location synchronise if each one's scope includes the other
      thread.  All order is transitive.
    * Atomics race if they conflict, are not ordered, and the scope of one leaves the other out.
    * Fences and scopes order strong accesses only: a pair with a weak access must be ordered by
      program order, lockstep and barriers alone.
    """

    def run(self, trace: Trace) -> Result:
        """Races and barrier divergences of all kernels of a trace."""
        return merge([_Analysis(kernel).run() for kernel in kernels_of(trace)])


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

    def judge(self, pairs: Pairs, order: Order) -> np.ndarray:
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

    def synchronise(self, row: int, warp: Warp) -> None:
        fences = self._fences[warp.place.warp]
        if self.kernel.kind[row] == EventKind.FENCE:
            mask = self.kernel.mask(row) & warp.clock.mask
            fences.fence(warp, mask, bool(self._device[row]), row)
            return
        event = self.kernel.events[row]
        lanes = self._lanes(row, event)
        if event["kind"] != EventKind.STORE:
            self._acquire(lanes, warp, bool(self._device[row]))
        if event["kind"] != EventKind.LOAD:
            self._release(lanes, warp, bool(self._device[row]))

    def _lanes(self, row: int, event: np.void) -> list[tuple[int, int, bool]]:
        """Lane, location, and whether it takes a lock, of lanes that are not failed CAS."""
        mask = int(event["lane_mask"])
        cas = event["kind"] == EventKind.ATOMIC and event["op"] == AtomicOp.CAS
        if cas:
            succeeded = int(event["success_mask"])
        numbers = [lane for lane in range(WARP_SIZE) if mask >> lane & 1]
        keys = sync_keys(self.kernel, np.array([row])).tolist()
        if not cas:
            return [(lane, key, False) for lane, key in zip(numbers, keys, strict=True)]
        records = self.kernel.lanes[self.kernel.lane_slice(row)].tolist()
        return [
            (lane, key, record[1:] == _TAKES)
            for lane, key, record in zip(numbers, keys, records, strict=True)
            if succeeded >> lane & 1
        ]

    def _acquire(self, lanes: list[tuple[int, int, bool]], warp: Warp, device: bool) -> None:
        fences, block = self._fences[warp.place.warp], warp.place.block
        known = {}
        for lane, key, takes in lanes:
            location = self._sync.get(key)
            if location is None:
                continue
            if takes:
                fences.take(lane, location.of_block(block), location.for_all if device else None)
                continue
            for each in (location.of_block(block), location.for_all)[: 1 + device]:
                known[id(each)] = each
        warp.acquire(*known.values())

    def _release(self, lanes: list[tuple[int, int, bool]], warp: Warp, device: bool) -> None:
        fences = self._fences[warp.place.warp]
        done = set()
        for lane, key, _ in lanes:
            published = fences.last[lane], fences.last_device[lane] if device else None
            if published[0] is None or (key, *map(id, published)) in done:
                continue
            done.add((key, *map(id, published)))
            self._sync[key].release_to_block(warp.place.block, published[0].known)
            if published[1] is not None:
                self._sync[key].release_to_all(published[1].known)
