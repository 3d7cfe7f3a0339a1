"""BARRACUDA oracle: the paper's analysis.

Ref: BARRACUDA (PLDI'17) Section 3, Figures 2 and 3.
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
from racetrap.golden_model.barracuda.compressed import Knowledge
from racetrap.golden_model.barracuda.history import Order
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.locations import rows_at, sync_keys
from racetrap.golden_model.barracuda.operations import NO_FENCE, Operations, infer_operations
from racetrap.golden_model.barracuda.race import RaceKind, Result
from racetrap.golden_model.barracuda.shadow import Pairs
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.sync import SyncLocation
from racetrap.golden_model.events import EventKind, Scope
from racetrap.golden_model.trace import Trace

_GLOBAL = Scope.DEVICE + 1


class Barracuda:
    """BARRACUDA's race detection on a trace: thread-level, both memories, fences with scopes.

    Accesses that are acquires or releases (``operations.py``) order others and are not checked
    themselves; atomics do not race with each other and order nothing.  State does not carry over
    from kernel to kernel: kernels of a stream are ordered.
    """

    def run(self, trace: Trace) -> Result:
        """Races and barrier divergences of all kernels of a trace."""
        kernels = list(kernels_of(trace))
        operations = infer_operations(kernels)
        return merge(
            [_Analysis(kernel, own).run() for kernel, own in zip(kernels, operations, strict=True)]
        )


class _Analysis(KernelAnalysis):
    def __init__(self, kernel: Kernel, operations: Operations) -> None:
        super().__init__(kernel)
        self._operations_of = operations
        self._orders = (operations.acquire != NO_FENCE) | (operations.release != NO_FENCE)
        self._sync: defaultdict[int, SyncLocation] = defaultdict(SyncLocation)

    def checked(self) -> np.ndarray:
        accesses = self.kernel.accesses
        return accesses[~self._orders[accesses]]

    def exempt(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        kind = self.kernel.kind
        both: np.ndarray = (kind[first] == EventKind.ATOMIC) & (kind[second] == EventKind.ATOMIC)
        return both

    def race_kinds(self, pairs: Pairs, order: Order) -> np.ndarray:
        return np.where(order.any, NO_RACE, RACE_KINDS.index(RaceKind.UNORDERED))

    def synchronising(self) -> np.ndarray:
        releases = np.flatnonzero(self._operations_of.release != NO_FENCE)
        acquires = np.flatnonzero(self._operations_of.acquire != NO_FENCE)
        # An acquire without a release has no effect.
        acquires = rows_at(self.kernel, acquires, sync_keys(self.kernel, releases))
        return np.union1d(releases, acquires)

    def synchronise(self, step: Step, warp: Warp) -> None:
        """Rules ACQ*, REL* and ACQREL*; ENDINSN joins the lanes' clocks."""
        acquire = int(self._operations_of.acquire[step.row])
        release = int(self._operations_of.release[step.row])
        before = warp.clock
        known: list[Knowledge] = []
        for place in dict.fromkeys(step.places):
            location, clock = self._sync[place], before
            if acquire:
                known += (released := _acquired(location, warp.place.block, acquire))
                for each in released:
                    clock = clock.acquire(warp.place, each)
            if not release:
                continue
            published = clock.publish(warp.place, step.row - 1)
            if release == _GLOBAL:
                location.release_to_all(published)
            else:
                location.release_to_block(warp.place.block, published)
        warp.acquire(*known)


def _acquired(location: SyncLocation, block: int, acquire: int) -> list[Knowledge]:
    """Knowledge that an acquire at a scope joins."""
    if acquire == _GLOBAL:
        return [location.anywhere]
    return [location.for_all, location.of_block(block)]
