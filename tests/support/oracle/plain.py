"""Plain form of BARRACUDA: vector clocks, one thread-level operation after the other.

The specification of ``Barracuda``, slow and simple; tests prove the two equal.

Ref: BARRACUDA (PLDI'17) Sections 3.1 and 3.3.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import Operations, infer_operations
from racetrap.golden_model.barracuda.race import (
    BarrierDivergence,
    Race,
    RaceClass,
    RaceKind,
    Result,
)
from racetrap.golden_model.barracuda.report import party
from racetrap.golden_model.events import WARP_SIZE, EventKind, Scope, Space, lanes_of
from racetrap.golden_model.trace import Trace
from tests.support.oracle.vector_clock import SyncClocks, VectorClocks


class PlainAccess(NamedTuple):
    """One lane of a load, store or atomic, with its epochs."""

    row: int
    thread: int
    value: tuple[int, int]
    epoch: int
    barrier_epoch: int


class PlainAnalysis:
    """Shadow memory, and what both plain analyses have in common."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.clocks = VectorClocks(kernel)
        self.sync = SyncClocks(len(self.clocks.clock))
        self.write: dict[int, PlainAccess] = {}
        self.reads: dict[int, list[PlainAccess]] = defaultdict(list)
        self.races: list[Race] = []
        self.divergences: list[BarrierDivergence] = []

    def run(self) -> Result:
        """Races, every time that they happen, and barrier divergences of the kernel."""
        for row in range(len(self.kernel.events)):
            kind, warp = EventKind(self.kernel.kind[row]), int(self.kernel.warp[row])
            if kind <= EventKind.ATOMIC:
                for access in self.lanes(row):
                    self.access(access)
                self.end_instruction(warp)
            elif kind == EventKind.FENCE:
                self.fence(row)
                self.end_instruction(warp)
            elif kind == EventKind.BARRIER:
                self.barrier(row)
            elif kind == EventKind.WARP_BARRIER:
                self.end_instruction(warp)
            elif EventKind.IF <= kind <= EventKind.EXIT:
                self.branch(kind, warp, self.kernel.mask(row))
        return Result(self.races, self.divergences)

    def end_instruction(self, warp: int) -> None:
        self.clocks.end_instruction(warp)

    def branch(self, kind: EventKind, warp: int, mask: int) -> None:
        self.clocks.branch(kind, warp, mask)

    def barrier(self, row: int) -> None:
        block = int(self.kernel.block[row])
        missing = self.clocks.barrier(block)
        if missing is not None:
            grid_block = int(self.kernel.grid_block[block])
            pc = int(self.kernel.events["pc"][row])
            self.divergences.append(BarrierDivergence(grid_block, pc, missing, self.kernel.number))

    def fence(self, row: int) -> None:
        """A fence that stands for itself."""

    def access(self, access: PlainAccess) -> None:
        raise NotImplementedError

    def race_kind(self, before: PlainAccess, access: PlainAccess) -> RaceKind | None:
        """Whether two conflicting accesses of different instructions race."""
        raise NotImplementedError

    def lanes(self, row: int) -> list[PlainAccess]:
        kernel = self.kernel
        mask, warp = kernel.mask(row), int(kernel.warp[row])
        records = kernel.lanes[kernel.lane_slice(row)]
        return [
            self.lane(row, warp * WARP_SIZE + lane, (int(record["value"]), int(record["compare"])))
            for lane, record in zip(lanes_of(mask), records, strict=True)
        ]

    def lane(self, row: int, thread: int, value: tuple[int, int]) -> PlainAccess:
        return PlainAccess(row, thread, value, self.clocks.epoch(thread), 0)

    def address(self, access: PlainAccess) -> int:
        records = self.kernel.lanes[self.kernel.lane_slice(access.row)]
        before = self.kernel.mask(access.row) & ((1 << access.thread % WARP_SIZE) - 1)
        return int(records["address"][before.bit_count()])

    def location(self, access: PlainAccess) -> int:
        return self.kernel.space_base(access.row) + self.address(access)

    def block(self, access: PlainAccess) -> int:
        return int(self.kernel.block[access.row])

    def check(self, access: PlainAccess) -> None:
        """Rules READ*, WRITE*, INITATOM* and ATOM*, for each byte."""
        size = int(self.kernel.events["size"][access.row])
        start = self.location(access)
        for location in range(start, start + size):
            write = self.write.get(location)
            if write is not None:
                self.check_pair(write, access)
            if self.kernel.kind[access.row] == EventKind.LOAD:
                self.reads[location].append(access)
                continue
            for read in self.reads.pop(location, ()):
                self.check_pair(read, access)
            self.write[location] = access

    def check_pair(self, before: PlainAccess, access: PlainAccess) -> None:
        if before.row == access.row:
            stores = self.kernel.kind[access.row] == EventKind.STORE
            same = before.thread == access.thread or before.value == access.value
            kind = RaceKind.SAME_INSTRUCTION if stores and not same else None
        else:
            kind = self.race_kind(before, access)
        if kind is not None:
            self.report(kind, before, access)

    def report(self, kind: RaceKind, before: PlainAccess, access: PlainAccess) -> None:
        if before.thread // WARP_SIZE == access.thread // WARP_SIZE:
            race_class = RaceClass.DIVERGENCE
        elif self.block(before) == self.block(access):
            race_class = RaceClass.INTRA_BLOCK
        else:
            race_class = RaceClass.INTER_BLOCK
        space = Space(self.kernel.events["space"][access.row])
        first = party(self.kernel, before.row, before.thread % WARP_SIZE)
        second = party(self.kernel, access.row, access.thread % WARP_SIZE)
        address, number = self.address(access), self.kernel.number
        race = Race(kind, race_class, space, address, first, second, number)
        self.races.append(race)


class _PlainBarracuda(PlainAnalysis):
    """Figures 2 and 3."""

    def __init__(self, kernel: Kernel, operations: Operations) -> None:
        super().__init__(kernel)
        self.operations = operations

    def access(self, access: PlainAccess) -> None:
        acquire = int(self.operations.acquire[access.row])
        release = int(self.operations.release[access.row])
        location, block, clocks = self.location(access), self.block(access), self.clocks
        if acquire == Scope.DEVICE + 1:
            clocks.acquire(access.thread, self.sync.anywhere(location))
        elif acquire:
            clocks.acquire(access.thread, self.sync.for_all(location))
            clocks.acquire(access.thread, self.sync.for_block(location, block))
        if release:
            own = clocks.clock[access.thread]
            self.sync.release(location, own, None if release == Scope.DEVICE + 1 else block)
            own[access.thread] += 1
        if not acquire and not release:
            self.check(access)

    def race_kind(self, before: PlainAccess, access: PlainAccess) -> RaceKind | None:
        kind = self.kernel.kind
        if kind[before.row] == kind[access.row] == EventKind.ATOMIC:
            return None
        ordered = self.clocks.knows(access.thread, before.thread, before.epoch)
        return None if ordered else RaceKind.UNORDERED


def plain_barracuda(trace: Trace) -> Result:
    """The paper's analysis of a small trace."""
    kernels = list(kernels_of(trace))
    operations = infer_operations(kernels)
    return merge([_PlainBarracuda(*each).run() for each in zip(kernels, operations, strict=True)])
