"""Plain form of the scope-aware oracle, one thread-level operation after the other.

The specification of ``ScopedOracle``, slow and simple; tests prove the two equal.

Ref: ScoRD (ISCA'20) Sections II and III.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.barracuda.race import RaceKind, Result
from racetrap.golden_model.events import WARP_SIZE, AtomicOp, EventKind, Scope
from racetrap.golden_model.trace import Trace
from tests.support.oracle.plain import PlainAccess, PlainAnalysis
from tests.support.oracle.vector_clock import VectorClocks


class _PlainScoped(PlainAnalysis):
    """The scope-aware extension; see ``scoped.py``."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.barriers = VectorClocks(kernel)
        self.named = neighbours(kernel).named
        threads = len(self.clocks.clock)
        nothing = np.zeros(threads, dtype=np.int64)
        #: By thread: its clock at its last fence of any scope, and at its last device fence.
        self.fenced: dict[int, np.ndarray] = {}
        self.device_fenced: dict[int, np.ndarray] = {}
        #: By thread: what locks taken since no fence yet have released, to its block and to all.
        self.pending_block: dict[int, np.ndarray] = defaultdict(lambda: nothing)
        self.pending_device: dict[int, np.ndarray] = defaultdict(lambda: nothing)

    def end_instruction(self, warp: int) -> None:
        super().end_instruction(warp)
        self.barriers.end_instruction(warp)

    def branch(self, kind: EventKind, warp: int, mask: int) -> None:
        super().branch(kind, warp, mask)
        self.barriers.branch(kind, warp, mask)

    def barrier(self, row: int) -> None:
        super().barrier(row)
        self.barriers.barrier(int(self.kernel.block[row]))

    def lane(self, row: int, thread: int, value: tuple[int, int]) -> PlainAccess:
        plain = super().lane(row, thread, value)
        return plain._replace(barrier_epoch=self.barriers.epoch(thread))

    def fence(self, row: int) -> None:
        warp = int(self.kernel.warp[row])
        device = self.kernel.events["scope"][row] == Scope.DEVICE
        for thread in self.clocks.active(warp):
            if not self.kernel.mask(row) >> thread % WARP_SIZE & 1:
                continue
            self.clocks.acquire(thread, self.pending_block.pop(thread, self.clocks.clock[thread]))
            if device and thread in self.pending_device:
                self.clocks.acquire(thread, self.pending_device.pop(thread))
            self.fenced[thread] = self.clocks.clock[thread].copy()
            if device:
                self.device_fenced[thread] = self.fenced[thread]

    def access(self, access: PlainAccess) -> None:
        self.check(access)  # what it acquires orders what comes after it
        event = self.kernel.events[access.row]
        if event["strong"]:
            self.synchronise(access, event)

    def synchronise(self, access: PlainAccess, event: np.void) -> None:
        thread, location, block = access.thread, self.location(access), self.block(access)
        cas = event["kind"] == EventKind.ATOMIC and event["op"] == AtomicOp.CAS
        failed = cas and not event["success_mask"] >> np.uint32(thread % WARP_SIZE) & np.uint32(1)
        if failed:
            return
        device = event["scope"] == Scope.DEVICE
        if event["kind"] != EventKind.STORE:
            for_block = self.sync.for_block(location, block)
            for_all = self.sync.for_all(location)
            if cas and access.value == (1, 0):
                self.pending_block[thread] = np.maximum(self.pending_block[thread], for_block)
                if device:
                    pending = np.maximum(self.pending_device[thread], for_all)
                    self.pending_device[thread] = pending
            else:
                self.clocks.acquire(thread, for_block)
                if device:
                    self.clocks.acquire(thread, for_all)
        if event["kind"] != EventKind.LOAD:
            if thread in self.fenced:
                self.sync.release(location, self.fenced[thread], block)
            if device and thread in self.device_fenced:
                self.sync.release(location, self.device_fenced[thread], None)

    def race_kind(self, before: PlainAccess, access: PlainAccess) -> RaceKind | None:
        events = self.kernel.events
        one, other = events[before.row], events[access.row]
        atomic = all(
            event["kind"] == EventKind.ATOMIC or self.named[row]
            for event, row in ((one, before.row), (other, access.row))
        )
        same_block = self.block(before) == self.block(access)
        if atomic and (same_block or one["scope"] == other["scope"] == Scope.DEVICE):
            return None
        if self.barriers.knows(access.thread, before.thread, before.barrier_epoch):
            return None
        if self.clocks.knows(access.thread, before.thread, before.epoch):
            strong = one["strong"] and other["strong"]
            return None if strong else RaceKind.NOT_STRONG
        return RaceKind.SCOPED_ATOMIC if atomic else RaceKind.UNORDERED


def plain_scoped(trace: Trace) -> Result:
    """The scope-aware analysis of a small trace."""
    return merge([_PlainScoped(kernel).run() for kernel in kernels_of(trace)])
