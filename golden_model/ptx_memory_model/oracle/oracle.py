"""Race oracle by PTX's memory model: the causality order of one run, by thread and by byte.

Release and acquire patterns and barriers order; of Fence-SC order nothing is taken, since the
order in which a run happened to execute its fences need not be that of another execution with
the same values.  The lanes of a warp run in lockstep.

Ref: PTX ISA 9.0, Sections 8.7 (Conflict, data-races), 8.8 (Patterns) and 8.9 (Orders).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.compressed import Clock, Knowledge, Place
from racetrap.golden_model.barracuda.fences import Fence
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import Neighbours, neighbours
from racetrap.golden_model.barracuda.race import Race, RaceClass, RaceKind, Result
from racetrap.golden_model.barracuda.report import first_races, party
from racetrap.golden_model.barracuda.shadow import (
    Pairs,
    rows_that_may_race,
    same_instruction_conflicts,
)
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.warp_clocks import WarpClocks
from racetrap.golden_model.events import (
    ALL_LANES,
    AtomicOp,
    EventKind,
    MemoryOrder,
    Scope,
    Space,
    lanes_of,
)
from racetrap.golden_model.ptx_memory_model.oracle.acquisitions import OpenPatterns
from racetrap.golden_model.ptx_memory_model.oracle.cells import Cell, Conflict
from racetrap.golden_model.ptx_memory_model.oracle.messages import Access, Message, Source
from racetrap.golden_model.trace import Trace

__all__ = ["OracleRule", "PtxOracle"]

_STRUCTURE = (EventKind.BARRIER, EventKind.IF, EventKind.ELSE, EventKind.FI, EventKind.EXIT)
# Numbers of enumerations' members, which are slow to look up.
_STORE, _ATOMIC, _FENCE, _BARRIER = map(int, (
    EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER,
))  # fmt: skip
_CAS, _DEVICE, _IMPLIED = int(AtomicOp.CAS), int(Scope.DEVICE), MemoryOrder.IMPLIED
_ORDERS = tuple(MemoryOrder)
_ACQUIRING = (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
_RELEASING = (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)


class OracleRule(StrEnum):
    """What an unordered pair of strong accesses is.

    CAUSALITY takes that of a volatile access for a race, unless it is the pair by which a
    release and an acquire pattern synchronise; PTX never does.
    """

    CAUSALITY = "causality"
    PTX = "ptx"


class PtxOracle:
    """Race detection by PTX's memory model.

    Parameters
    ----------
    rule : OracleRule
        What is a race.
    """

    def __init__(self, rule: OracleRule) -> None:
        self._rule = rule

    def run(self, trace: Trace) -> Result:
        """Races, unordered strong pairs and barrier divergences of all kernels of a trace."""
        return merge([_Analysis(kernel, self._rule).run() for kernel in kernels_of(trace)])


class _Analysis(WarpClocks):
    """Analysis of one kernel."""

    def __init__(self, kernel: Kernel, rule: OracleRule) -> None:
        super().__init__(kernel)
        self._rule = rule
        self._cells: defaultdict[int, Cell] = defaultdict(Cell)
        self._synchronised: set[tuple[int, int]] = set()
        self._patterns = [OpenPatterns(warp.place.block, self._synchronised) for warp in self.warps]
        self._found: dict[Any, tuple[Race, bool]] = {}
        #: Log2 of the bytes of a cell: of the smallest access, which are all aligned.
        sizes = kernel.events["size"][kernel.accesses]
        self._cell_bits = int(sizes.min()).bit_length() - 1 if len(sizes) else 0

    def run(self) -> Result:
        """Races of the kernel."""
        kernel = self.kernel
        rows = rows_that_may_race(kernel)
        near = neighbours(kernel)
        # A fence that is part of an access orders by the access alone.
        fences = np.flatnonzero(kernel.kind == EventKind.FENCE)
        fences = fences[~np.isin(kernel.events["pc"][fences], kernel.events["pc"][kernel.accesses])]
        structure = np.flatnonzero(np.isin(kernel.kind, _STRUCTURE))
        for row in np.union1d(np.union1d(rows, fences), structure).tolist():
            self._step(row, near)
        return self._result()

    def _step(self, row: int, near: Neighbours) -> None:
        kind = int(self.kernel.kind[row])
        if kind == _BARRIER:
            self.barrier(row)
            return
        warp = self.warps[int(self.kernel.warp[row])]
        if kind <= _ATOMIC:
            self._access(row, warp, kind, near)
        elif kind == _FENCE:
            self._fence(row, warp)
        else:
            warp.branch(EventKind(kind), self.kernel.mask(row), row)

    def _fence(self, row: int, warp: Warp) -> None:
        event = self.kernel.events[row]
        order, is_device = _ORDERS[event["order"]], int(event["scope"]) == _DEVICE
        is_sc = order is _IMPLIED
        lanes = lanes_of(self.kernel.mask(row) & warp.active)
        patterns = self._patterns[warp.place.warp]
        if is_sc or order in _ACQUIRING:
            known = [each for lane in lanes for each in patterns.acquire(lane, is_device)]
            warp.acquire(*known)
        if is_sc or order in _RELEASING:
            patterns.release_fence(lanes, Fence(warp.clock, warp.place, row), is_device)

    def _access(self, row: int, warp: Warp, kind: int, near: Neighbours) -> None:
        kernel = self.kernel
        event = kernel.events[row]
        base, pc, size = kernel.space_base(row), int(event["pc"]), int(event["size"])
        is_strong, is_device = bool(event["strong"]), int(event["scope"]) == _DEVICE
        order = self._order(row, near)
        is_volatile = is_strong and kind != _ATOMIC and order is _IMPLIED
        succeeds = ALL_LANES
        if kind == _ATOMIC and int(event["op"]) == _CAS:
            succeeds = int(event["success_mask"])
        lanes = lanes_of(kernel.mask(row))
        known: list[Knowledge] = []
        for lane, address in zip(
            lanes, kernel.lanes["address"][kernel.lane_slice(row)].tolist(), strict=True
        ):
            access = Access(row, warp.place.warp, lane, pc)
            location = base + address, size
            source = Source(location, warp.place.block, is_strong, is_device, is_volatile)
            writes = kind == _STORE or (kind == _ATOMIC and bool(succeeds >> lane & 1))
            cells = self._cells_of(source)
            observed, clock = None, warp.clock
            if kind != _STORE:
                observed = self._read(access, source, cells)
                acquired = self._acquired(access, source, observed, order)
                known += acquired
                for each in acquired:
                    clock = clock.acquire(warp.place, each)
            self._check(access, source, writes, warp.place, clock, cells)
            message = self._written(access, source, observed, order, warp) if writes else None
            for cell in cells:
                cell.add(access, source, writes, message if is_strong else None)
                if message is not None:
                    cell.message = message
        warp.acquire(*known)

    def _order(self, row: int, near: Neighbours) -> MemoryOrder:
        """Order of an access; traces without it tell it by the fences that are part of it."""
        order = _ORDERS[self.kernel.events["order"][row]]
        if order is not _IMPLIED or not near.named[row]:
            return order
        pc = self.kernel.events["pc"]
        before = row > 0 and near.before[row] and pc[row - 1] == pc[row]
        after = row + 1 < len(pc) and near.after[row] and pc[row + 1] == pc[row]
        if before and after:
            return MemoryOrder.ACQ_REL
        return MemoryOrder.RELEASE if before else MemoryOrder.ACQUIRE

    def _cells_of(self, source: Source) -> list[Cell]:
        start, size = source.location
        bits = self._cell_bits
        return [self._cells[each] for each in range(start >> bits, (start + size) >> bits)]

    def _read(self, access: Access, source: Source, cells: list[Cell]) -> Message | None:
        """The write that a strong read observes, if it does."""
        message = cells[0].message
        if message is None or message.source.location != source.location:
            return None
        if any(cell.message is not message for cell in cells):
            return None
        if not source.is_morally_strong_with(message.source):
            return None
        message.observers.append(access)
        return message

    def _acquired(
        self, access: Access, source: Source, message: Message | None, order: MemoryOrder
    ) -> list[Knowledge]:
        """What a read acquires now; what later operations may acquire is noted."""
        patterns = self._patterns[access.warp]
        if message is not None:
            pair = message.access.pc, access.pc
            patterns.observe(access.lane, source.location, pair, message.released)
        if order not in _ACQUIRING:
            return []
        return patterns.acquire(access.lane, source.is_device, source.location)

    def _written(
        self, access: Access, source: Source, observed: Message | None, order: MemoryOrder,
        warp: Warp,
    ) -> Message:  # fmt: skip
        """The message of a write, with what it releases and hands on."""
        message = Message(access, source)
        if not source.is_strong:
            return message
        patterns, released = self._patterns[access.warp], message.released
        patterns.released_by(access.lane, source.location, released)
        if order in _RELEASING:
            # The operation itself precedes what acquires it.
            known = Fence(warp.clock, warp.place, access.row)
            released.release(source.block, known, source.is_device)
            patterns.release_operation(access.lane, source.location, known, source.is_device)
        if observed is not None:
            message.released.add(observed.released)
            observed.successor = message
        return message

    def _check(
        self, access: Access, source: Source, writes: bool, place: Place, clock: Clock,
        cells: list[Cell],
    ) -> None:  # fmt: skip
        """Look for earlier accesses that are unordered with one, whose thread has a clock."""
        block_time = clock.block_time
        for cell in cells:
            for conflict in cell.conflicts(access, source, writes, block_time):
                strong = source.is_morally_strong_with(conflict.source)
                key = conflict.access.pc, access.pc, strong, conflict.source.block == source.block
                if key not in self._found and not self._is_ordered(conflict, access, place, clock):
                    is_volatile = source.is_volatile or conflict.source.is_volatile
                    self._found[key] = self._race(conflict, access, source, strong), is_volatile

    def _is_ordered(self, conflict: Conflict, access: Access, place: Place, clock: Clock) -> bool:
        """Whether an earlier access, or one that observes it, is in the past of an access."""

        def is_known(earlier: Access) -> bool:
            block = int(self.kernel.warp_block[earlier.warp])
            now = access.row - 1
            return clock.time_of(place, block, earlier.warp, earlier.lane, now) >= earlier.row

        if is_known(conflict.access):
            return True
        if conflict.message is None:
            return False
        observers = conflict.message.all_observers()
        return any(each.row < access.row and is_known(each) for each in observers)

    def _race(self, conflict: Conflict, access: Access, source: Source, strong: bool) -> Race:
        first = conflict.access
        if first.warp == access.warp:
            race_class = RaceClass.DIVERGENCE
        elif conflict.source.block == source.block:
            race_class = RaceClass.INTRA_BLOCK
        else:
            race_class = RaceClass.INTER_BLOCK
        both_strong = source.is_strong and conflict.source.is_strong
        kind = RaceKind.UNORDERED
        if strong:
            kind = RaceKind.UNORDERED_STRONG
        elif both_strong and source.location == conflict.source.location:
            kind = RaceKind.SCOPED_ATOMIC
        kernel = self.kernel
        address = source.location[0] - kernel.space_base(access.row)
        return Race(
            kind, race_class, Space(kernel.events["space"][access.row]), address,
            party(kernel, first.row, first.lane), party(kernel, access.row, access.lane),
            kernel.number,
        )  # fmt: skip

    def _result(self) -> Result:
        kernel = self.kernel
        accesses = kernel.accesses
        weak = accesses[kernel.events["strong"][accesses] == 0]
        same = same_instruction_conflicts(kernel, weak)
        kinds = np.full(len(same), tuple(RaceKind).index(RaceKind.SAME_INSTRUCTION))
        result = Result(
            first_races(kernel, Pairs(same, same), kinds), list(self.divergences.values())
        )
        for race, is_volatile in self._found.values():
            if race.kind is not RaceKind.UNORDERED_STRONG:
                result.races.append(race)
            elif is_volatile and self._is_race(race):
                result.races.append(replace(race, kind=RaceKind.UNORDERED))
            else:
                result.unordered_strong.append(race)
        result.races.sort(key=lambda race: (race.second.event, race.first.event))
        result.counts.events = len(kernel.events)
        return result

    def _is_race(self, race: Race) -> bool:
        """Whether an unordered pair of strong accesses, one of them volatile, is a race: not if
        its instructions are those by which patterns synchronise."""
        pair = race.first.pc, race.second.pc
        is_pattern = pair in self._synchronised or pair[::-1] in self._synchronised
        return self._rule is OracleRule.CAUSALITY and not is_pattern
