"""Random programs of a GPU whose threads synchronise, right or nearly so.

Warps run idioms: messages and chains of them, locks, Dekker's two flags, grid barriers, barriers of
tiles of a warp and of some warps of a block; more blocks than slots take their turns.  Data belong
to an idiom.  Each step of one may be missing, too narrow or weak, and data may be another's: about
half of the programs race.  Loops wait for values in memory, so that what a program observes is what
happened.

Ref: PTX ISA 9.0, Section 8; ScoRD (ISCA'20) Section V-A for the idioms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from random import Random

from racetrap.golden_model.events import (
    ALL_LANES,
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    MemoryOrder,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace

#: Two SMs, whose slots later blocks take again.
GEOMETRY = Geometry(sm_count=2, blocks_per_sm=2, warps_per_sm=8)
_REGION = DataRegion(data_base=0, size_log2=13)
_FLAGS, _LOCKS, _COUNTERS = 0x1400, 0x1500, 0x1600
#: Bytes of data that an idiom, or a warp alone, has.
_GROUP_BYTES = 32
_BARRIER_NUMBERS = range(1, 4)
#: Times that a loop looks for a value; then it gives up.
_PATIENCE = 6

#: An event of a warp, or a barrier that it waits at.
_Steps = Iterator[Event]


@dataclass
class _Warp:
    """A warp of a running block."""

    sm: int
    slot: int
    warp: int
    block: int
    number: int
    steps: _Steps = field(default_factory=lambda: iter(()))
    waits: bool = False
    is_done: bool = False


class RandomProgram:
    """Makes the events of a random program.

    Parameters
    ----------
    seed : int
        Seed of all choices.

    Attributes
    ----------
    independent : bool
        Whether the lanes of its warps are scheduled independently.
    """

    def __init__(self, seed: int) -> None:
        self._seed, self._rng = seed, Random(seed)
        rng = self._rng
        self.independent = rng.random() < 0.5
        self._care = rng.choice((0.9, 0.97, 1.0, 1.0))
        self._device = rng.choice((0.5, 0.9, 1.0))
        self._words = rng.choice((1, 2, 4, 8))
        self._groups: dict[object, int] = {}
        self._sizes = rng.choice(((4,), (4,), (4, 8), (1, 4), (1, 2, 4)))
        self._memory: dict[tuple[int, int], int] = {}
        self._pc = 0x1000
        self._value = 0

    def trace(self) -> Trace:
        """The trace of one kernel."""
        header = TraceHeader(
            geometry=GEOMETRY, region=_REGION, source="random program", seed=self._seed,
            independent_threads=int(self.independent),
        )  # fmt: skip
        return Trace.from_events(header, list(self._kernel()))

    # The run ----------------------------------------------------------------------------

    def _kernel(self) -> Iterator[Event]:
        rng = self._rng
        blocks, self._warps_per_block = rng.choice((1, 2, 2, 3, 4, 6)), rng.choice((1, 2, 3))
        self._blocks = blocks
        self._rounds: dict[tuple[int, int, str], int] = {}
        self._met: dict[tuple[int, int], bool] = {}
        self._phases = [self._phase() for _ in range(rng.choice((1, 2, 3)))]
        self._resident = min(blocks, 4)
        waiting = list(range(blocks))
        free = [(sm, slot) for slot in range(2) for sm in range(2)]
        running: dict[tuple[int, int], list[_Warp]] = {}
        yield Event(EventKind.KERNEL_BEGIN)
        while waiting or running:
            while waiting and free:
                sm, slot = free.pop(0)
                block = waiting.pop(0)
                count = self._warps_per_block
                yield Event(
                    EventKind.BLOCK_PLACED, sm, slot, slot * 4, warp_count=count,
                    grid_block=block, mask=ALL_LANES,
                )  # fmt: skip
                running[sm, slot] = [self._warp(sm, slot, block, i) for i in range(count)]
            place = rng.choice(list(running))
            warps = running[place]
            ready = [warp for warp in warps if not warp.waits and not warp.is_done]
            if ready:
                yield from self._advance(rng.choice(ready))
            elif any(warp.waits for warp in warps):
                yield Event(EventKind.BARRIER, *place, pc=0x8000)
                for warp in warps:
                    warp.waits = False
            if all(warp.is_done for warp in warps):
                yield Event(EventKind.BLOCK_RETIRED, *place)
                del running[place]
                free.append(place)
        yield Event(EventKind.KERNEL_END)

    def _warp(self, sm: int, slot: int, block: int, number: int) -> _Warp:
        warp = _Warp(sm, slot, slot * 4 + number, block, number)
        warp.steps = self._program(warp)
        return warp

    def _advance(self, warp: _Warp) -> Iterator[Event]:
        event = next(warp.steps, None)
        if event is None:
            warp.is_done = True
        elif event.kind == EventKind.BARRIER:
            warp.waits = True
        else:
            yield event

    # Programs ---------------------------------------------------------------------------

    def _phase(self) -> tuple[Callable[[_Warp], _Steps], ...]:
        """What all warps do, one after the other."""
        idioms = (
            self._accesses, self._chain, self._critical_section, self._dekker, self._tiles,
            self._branches, self._block_barrier, self._grid_barrier, self._some_warps,
        )  # fmt: skip
        return tuple(self._rng.choice(idioms) for _ in range(self._rng.randint(1, 3)))

    def _program(self, warp: _Warp) -> _Steps:
        for phase in self._phases:
            for idiom in phase:
                yield from idiom(warp)

    def _is_careful(self) -> bool:
        return self._rng.random() < self._care

    def _scope(self) -> Scope:
        is_wide = self._is_careful() or self._rng.random() < self._device
        return Scope.DEVICE if is_wide else Scope.BLOCK

    def _accesses(self, warp: _Warp) -> _Steps:
        for _ in range(self._rng.randint(1, 3)):
            yield self._data(warp, ("warp", warp.block, warp.number), [0])

    def _chain(self, warp: _Warp) -> _Steps:
        """Wait for the warp before, use the data, and hand it on."""
        turn = warp.block * self._warps_per_block + warp.number
        flags = _FLAGS + 0x50 * (next(self._round(warp, "chain")) % 3)
        is_told = True
        if turn:
            is_told = yield from self._await(warp, flags + 4 * (turn - 1))
        if is_told or not self._is_careful():
            for _ in range(self._rng.randint(1, 3)):
                yield self._data(warp, ("chain", flags), [0])
        yield from self._publish(warp, flags + 4 * turn)

    def _critical_section(self, warp: _Warp) -> _Steps:
        lock, scope = _LOCKS + 4 * self._rng.randrange(2), self._scope()
        for _ in range(_PATIENCE):
            was_free = not self._memory.get((0, lock), 0)
            order = self._order(MemoryOrder.ACQUIRE)
            yield self._atomic(warp, AtomicOp.CAS, lock, 1, scope, was_free, order)
            if was_free:
                break
        else:
            return
        yield from self._fence(warp, order != MemoryOrder.IMPLIED)
        for _ in range(self._rng.randint(1, 2)):
            yield self._data(warp, ("lock", lock), [0])
        order = self._order(MemoryOrder.RELEASE)
        yield from self._fence(warp, order != MemoryOrder.IMPLIED)
        yield self._atomic(warp, AtomicOp.EXCH, lock, 0, scope, True, order)

    def _dekker(self, warp: _Warp) -> _Steps:
        """Two warps raise their flags; whoever does not see the other's goes on."""
        turn = (warp.block * self._warps_per_block + warp.number) % 2
        mine, other = _COUNTERS + 0x20 + 4 * turn, _COUNTERS + 0x24 - 4 * turn
        yield self._strong(warp, EventKind.STORE, mine, 1)
        yield from self._fence(warp, False)
        sees = self._memory.get((0, other), 0)
        yield self._strong(warp, EventKind.LOAD, other)
        yield from self._fence(warp, False)
        if not sees:
            yield self._data(warp, "dekker", [0])

    def _grid_barrier(self, warp: _Warp) -> _Steps:
        number = next(self._round(warp, "grid"))
        counter = _COUNTERS + 4 * (number % 4)
        if number < 4:
            yield self._data(warp, ("grid", number, warp.block, warp.number), [0], EventKind.STORE)
        yield self._barrier(warp)
        has_met = True
        if warp.number == 0:
            yield from self._fence(warp, False)
            yield self._atomic(warp, AtomicOp.OTHER, counter, 1, self._scope(), True)
            for _ in range(_PATIENCE):
                seen = self._memory.get((0, counter), 0)
                yield self._strong(warp, EventKind.LOAD, counter)
                has_met = seen >= self._resident
                if has_met:
                    break
            yield from self._fence(warp, False)
            self._met[warp.block, number] = has_met
        yield self._barrier(warp)
        other = self._rng.randrange(self._blocks), self._rng.randrange(self._warps_per_block)
        if number < 4 and (self._met.get((warp.block, number)) or not self._is_careful()):
            yield self._data(warp, ("grid", number, *other), [0], EventKind.LOAD)

    def _round(self, warp: _Warp, idiom: str) -> Iterator[int]:
        """How often a warp has been in an idiom before."""
        key = warp.block, warp.number, idiom
        self._rounds[key] = self._rounds.get(key, -1) + 1
        yield self._rounds[key]

    def _block_barrier(self, warp: _Warp) -> _Steps:
        number = next(self._round(warp, "block")) % 4
        yield self._data(warp, ("block", warp.block, number, warp.number), [0], EventKind.STORE)
        yield self._barrier(warp)
        other = self._rng.randrange(self._warps_per_block)
        yield self._data(warp, ("block", warp.block, number, other), [0], EventKind.LOAD)
        yield self._barrier(warp)

    def _some_warps(self, warp: _Warp) -> _Steps:
        """A warp arrives at a barrier at which it does not wait, or waits there alone."""
        number = self._rng.choice(_BARRIER_NUMBERS)
        group = "some" if self._rng.random() < 0.1 else ("warp", warp.block, warp.number)
        yield self._data(warp, group, [0])
        if self._rng.random() < 0.5:
            yield Event(
                EventKind.BARRIER_ARRIVE, warp.sm, warp.slot, warp.warp, pc=self._place(),
                grid_block=number,
            )  # fmt: skip
        else:
            yield Event(
                EventKind.PARTIAL_BARRIER, warp.sm, warp.slot, pc=self._place(),
                grid_block=number, mask=1 << warp.number,
            )  # fmt: skip
        yield self._data(warp, group, [0])

    def _tiles(self, warp: _Warp) -> _Steps:
        """Lanes of a warp hand data to each other across barriers of tiles."""
        rng = self._rng
        size = rng.choice((2, 4, 8, 16, 32))
        first = rng.randrange(32) // size * size
        group = "block", warp.block, "tiles", warp.number, first
        for kind in (EventKind.STORE, EventKind.LOAD, EventKind.STORE)[: rng.randint(1, 3)]:
            yield self._data(warp, group, [first + rng.randrange(size)], kind)
            lanes = (1 << size) - 1 << first
            if not self._is_careful():
                lanes = rng.choice((0, rng.randrange(1, 1 << 32)))
            if lanes:
                yield Event(
                    EventKind.WARP_BARRIER, warp.sm, warp.slot, warp.warp,
                    pc=self._place(), mask=lanes if lanes != ALL_LANES else 0,
                )  # fmt: skip

    def _branches(self, warp: _Warp) -> _Steps:
        """Lanes of a warp go two ways, perhaps twice."""
        yield from self._branch(warp, ALL_LANES, self._rng.randint(1, 2))

    def _branch(self, warp: _Warp, active: int, depth: int) -> _Steps:
        rng = self._rng
        first = active & rng.randrange(1, 1 << 32)
        if first in (0, active):
            return
        place = warp.sm, warp.slot, warp.warp
        for kind, lanes in ((EventKind.IF, first), (EventKind.ELSE, active & ~first)):
            yield Event(kind, *place, pc=self._place(), mask=lanes)
            some = [lane for lane in range(32) if lanes >> lane & 1]
            group: object = ("block", warp.block, "side", warp.number, lanes)
            if not self._is_careful():
                group = "block", warp.block, "sides", warp.number
            yield self._data(warp, group, [rng.choice(some)])
            if depth > 1 and rng.random() < 0.5:
                yield from self._branch(warp, lanes, depth - 1)
        yield Event(EventKind.FI, *place, pc=self._place(), mask=active)

    # Parts of idioms ----------------------------------------------------------------------

    def _publish(self, warp: _Warp, flag: int) -> _Steps:
        order = self._order(MemoryOrder.RELEASE)
        yield from self._fence(warp, order != MemoryOrder.IMPLIED)
        if self._rng.random() < 0.3:
            yield self._atomic(warp, AtomicOp.EXCH, flag, 1, self._scope(), True, order)
        elif self._is_careful():
            yield self._strong(warp, EventKind.STORE, flag, 1, order)
        else:
            yield self._access(warp, EventKind.STORE, flag, [0], 4, 1)

    def _await(self, warp: _Warp, flag: int) -> Generator[Event, None, bool]:
        order, lane, is_set = self._order(MemoryOrder.ACQUIRE), self._lane(), 0
        for _ in range(_PATIENCE):
            is_set = self._memory.get((0, flag), 0)
            yield self._strong(warp, EventKind.LOAD, flag, 0, order, lane)
            if is_set:
                break
        yield from self._fence(warp, order != MemoryOrder.IMPLIED)
        return bool(is_set)

    def _order(self, order: MemoryOrder) -> MemoryOrder:
        choice = self._rng.random()
        return order if choice < 0.3 else MemoryOrder.IMPLIED

    def _fence(self, warp: _Warp, is_needless: bool) -> _Steps:
        if is_needless or not self._is_careful():
            return
        order = self._rng.choice((MemoryOrder.IMPLIED, MemoryOrder.IMPLIED, MemoryOrder.ACQ_REL))
        scope = self._scope()
        yield Event(
            EventKind.FENCE, warp.sm, warp.slot, warp.warp, scope,
            pc=self._place(), order=order, mask=1 if self.independent else 0,
        )  # fmt: skip

    def _barrier(self, warp: _Warp) -> Event:
        return Event(EventKind.BARRIER, warp.sm, warp.slot)

    def _lane(self) -> int:
        return 0 if self._rng.random() < 0.8 else self._rng.randrange(32)

    def _data(
        self, warp: _Warp, group: object, lanes: list[int] | None = None,
        kind: EventKind | None = None,
    ) -> Event:  # fmt: skip
        """An access to data of a group: what an idiom protects, or a warp has for itself."""
        rng = self._rng
        if kind is None:
            kind = rng.choice((EventKind.LOAD, EventKind.STORE))
        if not self._is_careful() and self._groups:
            group = rng.choice(list(self._groups))
        base = self._groups.setdefault(group, _GROUP_BYTES * len(self._groups))
        size = rng.choice(self._sizes)
        if lanes is None:
            lanes = [self._lane()] if rng.random() < 0.7 else sorted(rng.sample(range(32), 3))
        word = rng.randrange(self._words)
        is_shared = isinstance(group, tuple) and group[0] == "block" and rng.random() < 0.5
        space = Space.SHARED if is_shared else Space.GLOBAL
        address = base % 0x400 if is_shared else base
        return self._access(warp, kind, address + 4 * word // size * size, lanes, size, None, space)

    def _access(
        self, warp: _Warp, kind: EventKind, address: int, lanes: list[int], size: int,
        value: int | None, space: Space = Space.GLOBAL,
    ) -> Event:  # fmt: skip
        self._value += 1
        stored = value if value is not None else self._value % 200
        step = size if self._rng.random() < 0.5 else 0
        made = tuple(
            Lane(lane, address + step * place, stored if kind == EventKind.STORE else 0)
            for place, lane in enumerate(lanes)
        )
        if kind == EventKind.STORE:
            self._memory[int(space), address] = stored
        return Event(
            kind, warp.sm, warp.slot, warp.warp, size=size, lanes=made, space=space,
            pc=self._place(),
        )  # fmt: skip

    def _strong(
        self, warp: _Warp, kind: EventKind, address: int, value: int = 0,
        order: MemoryOrder = MemoryOrder.IMPLIED, lane: int = 0,
    ) -> Event:  # fmt: skip
        if kind == EventKind.STORE:
            self._memory[0, address] = value
        is_volatile = order == MemoryOrder.IMPLIED and self._rng.random() < 0.7
        if order == MemoryOrder.IMPLIED and not is_volatile:
            order = MemoryOrder.RELAXED
        scope = Scope.DEVICE if is_volatile else self._scope()
        return Event(
            kind, warp.sm, warp.slot, warp.warp, scope, True, size=4, order=order,
            pc=self._place(),
            lanes=(Lane(lane, address, value),),
        )  # fmt: skip

    def _atomic(
        self, warp: _Warp, op: AtomicOp, address: int, value: int, scope: Scope, succeeds: bool,
        order: MemoryOrder = MemoryOrder.IMPLIED,
    ) -> Event:  # fmt: skip
        old = self._memory.get((0, address), 0)
        if succeeds:
            self._memory[0, address] = old + value if op == AtomicOp.OTHER else value
        stored = value if op != AtomicOp.OTHER else 0
        lane = Lane(0, address, stored, 0, succeeds and op == AtomicOp.CAS)
        return Event(
            EventKind.ATOMIC, warp.sm, warp.slot, warp.warp, scope, True, op,
            self._place(), 4, (lane,), order=order,
        )  # fmt: skip

    def _place(self) -> int:
        """PC of an instruction: each that is executed has one of its own, so that each pair of them
        is judged by itself."""
        self._pc += 0x10
        return self._pc
