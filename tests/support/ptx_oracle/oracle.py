"""Race oracle by PTX's memory model: the causality order of one run, by thread and by byte.

Release and acquire patterns and barriers order; of Fence-SC order nothing is taken, since the
order in which a run happened to execute its fences need not be that of another execution with
the same values.  The lanes of a warp run in lockstep.

Ref: PTX ISA 9.0, Sections 8.7 (Conflict, data-races), 8.8 (Patterns) and 8.9 (Orders).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.compressed import Clock, Knowledge, Place, join_all
from racetrap.golden_model.barracuda.concurrent import concurrent_races
from racetrap.golden_model.barracuda.fences import Fence
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.race import Party, RaceClass, RaceKind, Result
from racetrap.golden_model.barracuda.report import first_races, party
from racetrap.golden_model.barracuda.shadow import Pairs, same_instruction_conflicts
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.barracuda.warp_clocks import WarpClocks
from racetrap.golden_model.events import (
    ALL_LANES,
    SHARED_BITS,
    WARP_SIZE,
    AtomicOp,
    EventKind,
    MemoryOrder,
    Space,
    lanes_of,
)
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle.compiled_oracle import ProgramOrders
from racetrap.sim.gpu.oracle.findings import Finding, OracleRule, result_of
from tests.support.ptx_oracle.acquisitions import OpenPatterns
from tests.support.ptx_oracle.cells import Cell, Conflict
from tests.support.ptx_oracle.messages import (
    IN_BLOCK,
    IN_CLUSTER,
    REACHES,
    Access,
    Message,
    Source,
    Team,
)
from tests.support.ptx_oracle.sc_fences import ScFences, read, write
from tests.support.ptx_oracle.thread_kernel import ThreadKernel

_STRUCTURE = (
    EventKind.BARRIER, EventKind.IF, EventKind.ELSE, EventKind.FI, EventKind.EXIT,
    EventKind.WARP_BARRIER, EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER,
    EventKind.CLUSTER_ARRIVE, EventKind.CLUSTER_WAIT,
)  # fmt: skip
# Numbers of enumerations' members, which are slow to look up.
_LOAD, _STORE, _ATOMIC, _FENCE, _BARRIER, _WARP_BARRIER, _ARRIVE, _PARTIAL = map(int, (
    EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER,
    EventKind.WARP_BARRIER, EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER,
))  # fmt: skip
_CLUSTER_ARRIVE, _CLUSTER_WAIT = int(EventKind.CLUSTER_ARRIVE), int(EventKind.CLUSTER_WAIT)
_CAS, _IMPLIED = int(AtomicOp.CAS), MemoryOrder.IMPLIED
_ORDERS = tuple(MemoryOrder)
ACQUIRING = (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
RELEASING = (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)


class PtxOracle:
    """Race detection by PTX's memory model.

    Parameters
    ----------
    rule : OracleRule
        What is a race.
    independent : bool
        Whether the lanes of a warp are ordered by their own program and ``bar.warp.sync`` alone;
        else they run in lockstep.
    """

    def __init__(self, rule: OracleRule, independent: bool = False) -> None:
        self._rule, self._independent = rule, independent

    def run(self, trace: Trace) -> Result:
        """Races, unordered strong pairs and barrier divergences of all kernels of a trace, and
        races between kernels or copies that nothing orders."""
        results = [self.run_kernel(kernel) for kernel in kernels_of(trace)]
        return merge([*results, concurrent_races(trace, self._rule.may_conflict(trace.events))])

    def run_kernel(self, kernel: Kernel) -> Result:
        """The same of one kernel."""
        return _Analysis(kernel, self._rule, self._independent).run()


@dataclass
class _Instances:
    """Instances of a race.

    Parameters
    ----------
    finding : Finding
        The first.
    rows : set of int
        Rows of the later instructions.
    blocks : set of frozenset of int
        Pairs of blocks.
    """

    finding: Finding
    rows: set[int] = field(default_factory=set)
    blocks: set[frozenset[int]] = field(default_factory=set)

    def has(self, row: int, blocks: frozenset[int]) -> bool:
        """Whether another instance adds nothing."""
        return row in self.rows and blocks in self.blocks

    def result(self) -> Finding:
        """The first with the number of all."""
        return self.finding._replace(instances=len(self.rows), block_pairs=len(self.blocks))


class _Analysis(WarpClocks):
    """Analysis of one kernel."""

    def __init__(self, kernel: Kernel, rule: OracleRule, independent: bool) -> None:
        threads = ThreadKernel(kernel) if independent else None
        super().__init__(threads or kernel, uses=2)
        self._rule, self._whole = rule, kernel
        self._source_rows = threads.source_rows if threads else np.arange(len(kernel.events))
        orders = ProgramOrders.of(kernel)
        self._orders, self._is_part = (each[self._source_rows] for each in orders)
        self._actors_of_warp = WARP_SIZE if independent else 1
        #: By block and number what has arrived at a barrier that has not been passed.
        self._arrived: defaultdict[tuple[int, int], list[Knowledge]] = defaultdict(list)
        self._cells: defaultdict[int, Cell] = defaultdict(Cell)
        self._synchronised: set[tuple[int, int]] = set()
        self._teams = [
            Team(warp.place.block, int(self.kernel.cluster[warp.place.block]))
            for warp in self.warps
        ]
        self._patterns = [OpenPatterns(team, self._synchronised) for team in self._teams]
        #: Phases of the barrier of its cluster at which each lane has arrived, and what has been
        #: released in each, by cluster and phase.
        self._phases: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._exited: Counter[int] = Counter()
        self._given: defaultdict[tuple[int, int], list[Knowledge]] = defaultdict(list)
        self._sc_fences = ScFences(len(self.warps))
        self._found: dict[Any, _Instances] = {}
        #: Log2 of the bytes of a cell: of the smallest access, which are all aligned.
        sizes = kernel.events["size"][kernel.accesses]
        self._cell_bits = int(sizes.min()).bit_length() - 1 if len(sizes) else 0

    def run(self) -> Result:
        """Races of the kernel."""
        kernel = self.kernel
        rows = kernel.accesses
        others = np.isin(kernel.kind, (EventKind.FENCE, *_STRUCTURE))
        for row in np.union1d(rows, np.flatnonzero(others)).tolist():
            self._step(row)
        findings = [each.result() for each in self._found.values()]
        return result_of(
            kernel.number, self._rule, [*self._stores(), *findings], self._synchronised,
            list(self.divergences.values()),
        )  # fmt: skip

    def _stores(self) -> list[Finding]:
        """Stores whose lanes have stored different values to one place."""
        kernel = self._whole
        events = kernel.events.copy()
        events["order"] = ProgramOrders.of(kernel).orders
        rows = kernel.accesses
        same = same_instruction_conflicts(kernel, rows[~self._rule.needs_no_order(events[rows])])
        kinds = np.full(len(same), tuple(RaceKind).index(RaceKind.SAME_INSTRUCTION))
        return [
            Finding(
                race.first, race.second, race.race_class, race.space, race.address, is_same=True,
                instances=race.instances, block_pairs=race.block_pairs,
            )
            for race in first_races(kernel, Pairs(same, same), kinds)
        ]  # fmt: skip

    def _step(self, row: int) -> None:
        kind = int(self.kernel.kind[row])
        if kind == _BARRIER:
            self.barrier(row)
            return
        if kind == _WARP_BARRIER:
            self._warp_barrier(row)
            return
        if kind == _ARRIVE:
            self._arrived[self._barrier_of(row)] += self._published(row, self._actors(row))
            return
        if kind == _PARTIAL:
            self._partial_barrier(row)
            return
        if kind in (_CLUSTER_ARRIVE, _CLUSTER_WAIT):
            self._cluster_barrier(row, kind == _CLUSTER_ARRIVE)
            return
        warp = self.warps[int(self.kernel.warp[row])]
        if kind <= _ATOMIC:
            self._access(row, warp, kind)
        elif kind == _FENCE:
            if not self._is_part[row]:
                self._fence(row, warp)
        else:
            if kind == EventKind.EXIT:
                self._exit(row)
            warp.branch(EventKind(kind), self.kernel.mask(row), row)

    def _exit(self, row: int) -> None:
        """When all threads of a block in a cluster have exited its shared memory ends: accesses by
        other blocks must come before."""
        kernel, whole = self.kernel, self._whole
        block = int(kernel.block[row])
        cluster = int(kernel.cluster[block])
        if (kernel.cluster == cluster).sum() == 1:
            return
        self._exited[block] += kernel.mask(row).bit_count()
        threads = sum(int(mask).bit_count() for mask in whole.live[whole.warps_of(block)])
        if self._exited[block] < threads:
            return
        instruction = int(self._source_rows[row])
        lane = lanes_of(whole.mask(instruction))[0]
        warp = int(whole.warp[instruction])
        warp, lane = (warp * WARP_SIZE + lane, 0) if self._actors_of_warp > 1 else (warp, lane)
        end = Access(row, warp, lane, int(kernel.events["pc"][row]), instruction)
        known = join_all(self._published(row, list(kernel.warps_of(block))))
        begin = (1 << 64) + (block << SHARED_BITS)
        cells = sorted(
            (number, cell) for number, cell in self._cells.items()
            if begin <= number << self._cell_bits < begin + (1 << SHARED_BITS)
        )  # fmt: skip
        for number, cell in cells:
            location = number << self._cell_bits, 0
            source = Source(location, self._teams[warp], False, IN_BLOCK, False)
            for conflict in cell.conflicts(end, source, True, -1):
                self._check_end(conflict, end, source, known)

    def _check_end(self, conflict: Conflict, end: Access, source: Source, known: Knowledge) -> None:
        other = conflict.source.team.block
        observers = conflict.message.all_observers() if conflict.message else ()
        accesses = [conflict.access, *observers]
        if other == source.team.block or any(
            known.time_of(each.warp, each.lane) >= each.row for each in accesses
        ):
            return
        key = conflict.access.pc, end.pc, False, False
        if key not in self._found:
            address = source.location[0] - (1 << 64) - (source.team.cluster << SHARED_BITS)
            finding = self._finding(conflict, end, source, False)
            self._found[key] = _Instances(finding._replace(space=Space.SHARED, address=address))
        self._found[key].rows.add(end.instruction)
        self._found[key].blocks.add(frozenset((other, source.team.block)))

    def _warp_barrier(self, row: int) -> None:
        """Let threads of a warp pass a barrier; in lockstep they are ordered anyway."""
        if isinstance(self.kernel, ThreadKernel):
            self._synchronise(row, self._actors(row), [])

    def _cluster_barrier(self, row: int, arrives: bool) -> None:
        """Let lanes arrive at the barrier of their cluster, or go on behind it."""
        first, size = int(self.kernel.warp[row]), self._actors_of_warp
        for each in lanes_of(self.kernel.mask(row)):
            actor, lane = (first + each, 0) if size > 1 else (first, each)
            self._phases[first, each] += arrives
            given = self._given[self._teams[actor].cluster, self._phases[first, each]]
            if not arrives:
                self.warps[actor].acquire(*given)
            elif int(self.kernel.events["order"][row]) == MemoryOrder.RELEASE:
                given += self._published(row, [actor])
            elif (fence := self._patterns[actor].fences.get((lane, IN_CLUSTER))) is not None:
                given.append(fence.known)

    def _partial_barrier(self, row: int) -> None:
        """Let some warps of a block pass a barrier, at which others may have arrived before."""
        first = self.kernel.warps_of(int(self.kernel.block[row])).start
        size = self._actors_of_warp
        waiting = lanes_of(int(self.kernel.events["mask"][row]))
        actors = [first + size * each + lane for each in waiting for lane in range(size)]
        self._synchronise(row, actors, self._arrived.pop(self._barrier_of(row), []))

    def _barrier_of(self, row: int) -> tuple[int, int]:
        """Block and number of the barrier of an event."""
        return int(self.kernel.block[row]), int(self.kernel.events["grid_block"][row])

    def _actors(self, row: int) -> list[int]:
        """Warps, or threads in their place, that an event of one warp is of."""
        first, size = int(self.kernel.warp[row]), self._actors_of_warp
        return [first + lane for lane in lanes_of(self.kernel.mask(row))] if size > 1 else [first]

    def _published(self, row: int, actors: list[int]) -> list[Knowledge]:
        return [self.warps[each].clock.publish(self.warps[each].place, row) for each in actors]

    def _synchronise(self, row: int, actors: list[int], arrived: list[Knowledge]) -> None:
        """Order warps behind one another, and behind what has arrived."""
        known = [*arrived, *self._published(row, actors)]
        for each in actors:
            self.warps[each].acquire(*known)

    def _fence(self, row: int, warp: Warp) -> None:
        event = self.kernel.events[row]
        order, reach = _ORDERS[self._orders[row]], REACHES[int(event["scope"])]
        is_sc = order is _IMPLIED
        lanes = lanes_of(self.kernel.mask(row) & warp.active)
        patterns = self._patterns[warp.place.warp]
        if is_sc or order in ACQUIRING:
            past = self._past(warp, row)
            known = [each for lane in lanes for each in patterns.acquire(lane, reach, past)]
            warp.acquire(*known)
        if is_sc:
            self._sc_fences.add(row, warp, self._teams[warp.place.warp], lanes, reach)
        if is_sc or order in RELEASING:
            patterns.release_fence(lanes, Fence(warp.clock, warp.place, row), reach)

    def _past(self, warp: Warp, row: int) -> Callable[[], Knowledge]:
        clock = warp.clock
        return lambda: clock.publish(warp.place, row)

    def _access(self, row: int, warp: Warp, kind: int) -> None:
        kernel = self.kernel
        event = kernel.events[row]
        base, pc, size = kernel.space_base(row), int(event["pc"]), int(event["size"])
        is_strong, reach = bool(event["strong"]), REACHES[int(event["scope"])]
        order = _ORDERS[self._orders[row]]
        is_volatile = is_strong and kind != _ATOMIC and order is _IMPLIED
        succeeds = ALL_LANES
        if kind == _ATOMIC and int(event["op"]) == _CAS:
            succeeds = int(event["success_mask"])
        lanes = lanes_of(kernel.mask(row))
        known: list[Knowledge] = []
        for lane, address in zip(
            lanes, kernel.lanes["address"][kernel.lane_slice(row)].tolist(), strict=True
        ):
            access = Access(row, warp.place.warp, lane, pc, int(self._source_rows[row]))
            location = base + address, size
            source = Source(location, self._teams[access.warp], is_strong, reach, is_volatile)
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
            past = self._sc_fences.past(clock, warp.place, row)
            communicated: tuple[Knowledge, ...] = ()
            if kind != _STORE:
                communicated += (read(cells, observed, past),)
            if writes:
                is_behind = self._is_behind(access, source, warp.place, clock)
                communicated = (*write(cells, past, is_behind), *communicated)
            known += communicated
            for each in communicated:
                clock = clock.acquire(warp.place, each)
            if kind != _LOAD and order in RELEASING:
                # The operation itself precedes what acquires it; a CAS that fails is one too.
                self._patterns[access.warp].release_operation(
                    lane, location, Fence(clock, warp.place, row), reach
                )
            message = self._written(access, source, observed, cells) if writes else None
            if message is not None:
                message.past, message.preceding = past, communicated[0]
            for cell in cells:
                cell.add(access, source, writes, message)
                if message is not None:
                    cell.message = message
        warp.acquire(*known)

    def _is_behind(
        self, access: Access, source: Source, place: Place, clock: Clock
    ) -> Callable[[Message], bool]:
        """Whether a write comes behind an earlier one in coherence order."""

        def is_behind(earlier: Message) -> bool:
            if source.is_morally_strong_with(earlier.source):
                return True
            conflict = Conflict(earlier.access, earlier.source, earlier)
            return self._is_ordered(conflict, access, place, clock)

        return is_behind

    def _cells_of(self, source: Source) -> list[Cell]:
        start, size = source.location
        bits = self._cell_bits
        return [self._cells[each] for each in range(start >> bits, (start + size) >> bits)]

    def _read(self, access: Access, source: Source, cells: list[Cell]) -> Message | None:
        """The write that a strong read observes, if it does."""
        message = cells[0].message
        if message is None:
            return None
        if any(cell.message is not message for cell in cells):
            return None
        if not message.is_observed_by(access, source):
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
            is_volatile = source.is_volatile or message.source.is_volatile
            patterns.observe(access.lane, source.location, pair, message.released, is_volatile)
            for each in message.overwritten:
                patterns.overlook(
                    access.lane, source.location, pair, (each.access.pc, access.pc), each.released
                )
        if order not in ACQUIRING:
            return []
        past = self._past(self.warps[access.warp], access.row)
        return patterns.acquire(access.lane, source.reach, past, source.location)

    def _written(
        self, access: Access, source: Source, observed: Message | None, cells: list[Cell]
    ) -> Message:
        """The message of a write, with what it releases and hands on."""
        message = Message(access, source, cells[0].message)
        if not source.is_strong:
            return message
        patterns, released = self._patterns[access.warp], message.released
        patterns.released_by(access.lane, source.location, released)
        if observed is not None:
            message.released.add(observed.released)
            observed.successor = message
        return message

    def _check(
        self, access: Access, source: Source, writes: bool, place: Place, clock: Clock,
        cells: list[Cell],
    ) -> None:  # fmt: skip
        """Look for earlier accesses that are unordered with one, whose thread has a clock."""
        for cell in cells:
            for conflict in cell.conflicts(access, source, writes, clock.block_time):
                other = conflict.source
                strong = source.is_morally_strong_with(other)
                key = conflict.access.pc, access.pc, strong, other.team.block == source.team.block
                blocks = frozenset((other.team.block, source.team.block))
                known = self._found.get(key)
                if known is not None and (strong or known.has(access.instruction, blocks)):
                    continue
                if not self._is_ordered(conflict, access, place, clock):
                    if known is None:
                        finding = self._finding(conflict, access, source, strong)
                        known = self._found[key] = _Instances(finding)
                    known.rows.add(access.instruction)
                    known.blocks.add(blocks)

    def _finding(
        self, conflict: Conflict, access: Access, source: Source, is_strong: bool
    ) -> Finding:
        first, other = conflict.access, conflict.source
        both_strong = source.is_strong and other.is_strong and source.location == other.location
        address = source.location[0] - self.kernel.space_base(access.row)
        (one, earlier), (another, later) = map(self._place, (first, access))
        race_class = RaceClass.INTER_BLOCK
        if one == another:
            race_class = RaceClass.DIVERGENCE
        elif self._whole.warp_block[one] == self._whole.warp_block[another]:
            race_class = RaceClass.INTRA_BLOCK
        return Finding(
            earlier, later, race_class, Space(self.kernel.events["space"][access.row]), address,
            is_strong, both_strong and not is_strong, source.is_volatile or other.is_volatile,
        )  # fmt: skip

    def _place(self, access: Access) -> tuple[int, Party]:
        """Warp of an access, and the access in a report."""
        is_thread = isinstance(self.kernel, ThreadKernel)
        lane = access.warp % WARP_SIZE if is_thread else access.lane
        warp = int(self._whole.warp[access.instruction])
        return warp, party(self._whole, access.instruction, lane)

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
        return any(each.instruction < access.instruction and is_known(each) for each in observers)
