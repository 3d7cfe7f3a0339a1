"""Constrained-random GPU runs for causality: complete, legal traces.

Nothing is executed.  A run is drawn from a style: which orders and scopes are named, how often
lanes diverge, and so on.

Ref: ScoRD (ISCA'20) Section VI; PTX ISA 9.0, Section 8 (orders and scopes).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import (
    ALL_LANES,
    ATOMIC_SIZES,
    WARP_SIZE,
    AtomicOp,
    Event,
    EventKind,
    Lane,
    MemoryOrder,
    Scope,
    Space,
    lanes_of,
)
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.styles import Style
from racetrap.sim.cosim.gpu.random_run import Block, Draw, RandomRun

_ORDERS = (MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
#: Log2 of the barriers that a block has.
_BARRIERS_LOG2 = 4
#: Log2 of the largest tile that is not all of a warp.
_TILE_LOG2 = 4
#: Lines of each warp.
_OWN_LINES = 2


class _Generator(RandomRun):
    """One random run; see :func:`random_events`."""

    def __init__(self, params: CausalityParams, region: Region, style: Style, seed: int) -> None:
        self._style, self._params = style, params
        super().__init__(params, style, seed)
        self._base, self._size = region.data_base, 1 << region.size_log2
        self._words = [self._base + 4 * self._rng.randrange(self._size // 4) & -16
                       for _ in range(style.words)]  # fmt: skip
        # Of each warp with an open branch: sides still to run, and those that have.
        self._branches: dict[tuple[int, int], list[list[int]]] = {}
        self._empty: list[Block] = []
        # Numbers of the barriers of some warps: two differ in a bit.
        first, other = (self._rng.randrange(1 << _BARRIERS_LOG2) for _ in range(2))
        self._barriers = first, first ^ 1 << self._rng.randrange(_BARRIERS_LOG2), other
        self._lane = 0

    def rates(self) -> Iterable[tuple[float, Draw]]:
        style = self._style
        return (
            (style.churn, self.replace),
            (style.barriers, self.barrier),
            (style.partial, self._partial),
            (style.warp_barriers, self._warp_barrier),
            (style.branches, self._branch),
            (style.fences, self._fence),
        )

    def replace(self, block: Block, warp: int) -> list[Event]:
        """Retire a block: its slot is taken again at once, or when another's is.

        Those of an SM that are taken together exchange their warps.
        """
        for each in range(block.first_warp, block.first_warp + block.warps):
            self._branches.pop((block.sm, each), None)
        retired = Event(EventKind.BLOCK_RETIRED, block.sm, block.slot)
        self._blocks.remove(block)
        if self._blocks and self._rng.random() < 0.5:
            self._empty.append(block)
            return [retired]
        taken = []
        for _, blocks in groupby(sorted([block, *self._empty]), attrgetter("sm")):
            before = [*blocks]
            slots = self._rng.sample([each.slot for each in before], len(before))
            taken += [each._replace(slot=slot) for each, slot in zip(before, slots, strict=True)]
        self._empty = []
        self._blocks += taken
        return [retired, *map(self._place, taken)]

    # What orders ------------------------------------------------------------------------

    def _partial(self, block: Block, warp: int) -> list[Event]:
        """Some warps pass a barrier, or one arrives without waiting."""
        number, pc = self._rng.choice(self._barriers), self.pc()
        if self._rng.random() < 0.5:
            return [Event(
                EventKind.BARRIER_ARRIVE, block.sm, block.slot, warp, pc=pc, grid_block=number
            )]  # fmt: skip
        waiting = self._rng.getrandbits(block.warps)
        return [Event(
            EventKind.PARTIAL_BARRIER, block.sm, block.slot, pc=pc, grid_block=number, mask=waiting,
        )]  # fmt: skip

    def _warp_barrier(self, block: Block, warp: int) -> list[Event]:
        rng, draw = self._rng, self._rng.random()
        lanes = self._active(block, warp)
        if draw < 0.5:
            size = 1 << rng.randrange(rng.randint(1, 6))
            # Half of them of the lane that most accesses have.
            lane = self._lane if rng.random() < 0.5 else rng.randrange(WARP_SIZE)
            lanes = (1 << size) - 1 << (lane & -size)
        elif draw < 0.8:
            lanes = lanes & rng.getrandbits(WARP_SIZE) or lanes
        return [Event(EventKind.WARP_BARRIER, block.sm, block.slot, warp, pc=self.pc(), mask=lanes)]

    def _active(self, block: Block, warp: int) -> int:
        """Lanes of a warp that run."""
        open_branches = self._branches.get((block.sm, warp))
        return open_branches[-1][0] if open_branches else ALL_LANES

    def _branch(self, block: Block, warp: int) -> list[Event]:
        """The next part of the innermost branch, or a further one."""
        rng, active = self._rng, self._active(block, warp)
        levels = self._branches.setdefault((block.sm, warp), [])
        if active.bit_count() > 1 and len(levels) < 4 and (not levels or rng.random() < 0.4):
            first = 1 << rng.choice(lanes_of(active))
            first |= active & rng.getrandbits(WARP_SIZE)
            first ^= 0 if first != active else 1 << rng.choice(lanes_of(active))
            levels.append([first, active & ~first, active])
            kind, lanes = EventKind.IF, first
        elif levels and levels[-1][1]:
            lanes = levels[-1][1]
            levels[-1][:2] = lanes, 0
            kind = EventKind.ELSE
        elif levels:
            kind, lanes = EventKind.FI, levels.pop()[2]
        else:
            return []
        return [Event(kind, block.sm, block.slot, warp, pc=self.pc(), mask=lanes)]

    def _fence(self, block: Block, warp: int) -> list[Event]:
        rng = self._rng
        is_sc = rng.random() < self._style.sc
        order = MemoryOrder.IMPLIED if is_sc else rng.choice(_ORDERS)
        return [Event(
            EventKind.FENCE, block.sm, block.slot, warp, self._scope(), pc=self.pc(), order=order,
        )]  # fmt: skip

    def _scope(self) -> Scope:
        return Scope(self._rng.random() < self._style.device)

    # Accesses ---------------------------------------------------------------------------

    def access(self, block: Block, warp: int) -> list[Event]:
        rng, style = self._rng, self._style
        kind = EventKind.STORE if rng.random() < style.stores else EventKind.LOAD
        if style.own and rng.random() < style.own:
            return [self._own_access(kind, block, warp)]
        strong, scope, order = False, Scope.BLOCK, MemoryOrder.IMPLIED
        size, draw = rng.choice(style.sizes), rng.random()
        if rng.random() < style.atomics:
            kind, strong, scope = EventKind.ATOMIC, True, self._scope()
            size = size if size in ATOMIC_SIZES else 4
            order = self._order(kind, MemoryOrder.IMPLIED)
        elif draw < style.volatile:
            strong, scope = True, Scope.DEVICE
        elif draw < style.volatile + style.named:
            strong, scope = True, self._scope()
            order = self._order(kind, MemoryOrder.RELAXED)
        is_atomic = kind == EventKind.ATOMIC
        op = rng.choice(tuple(AtomicOp)) if is_atomic else AtomicOp.CAS
        space = Space(rng.random() < style.shared)
        lanes = tuple(self._lanes(block, warp, space, size))
        if kind == EventKind.STORE:
            # Equal values, or one of its own for each lane.
            own = rng.random() < 0.5
            lanes = tuple([lane._replace(value=lane.lane * own) for lane in lanes])
        elif is_atomic and op == AtomicOp.CAS:
            lanes = tuple([lane._replace(success=rng.random() < 0.6) for lane in lanes])
        return [Event(
            kind, block.sm, block.slot, warp, scope, strong, op, self.pc(), size, lanes,
            space=space, order=order,
        )]  # fmt: skip

    def _own_access(self, kind: EventKind, block: Block, warp: int) -> Event:
        """A plain access by all lanes that run, each to its own word of a line of its warp.

        Warps share lines only if the region has too few.
        """
        params, stride = self._params, self._style.stride
        line = self._rng.randrange(_OWN_LINES) << params.slot_warp_bits
        line |= params.warp_id(block.sm, warp)
        first = self._base + stride * WARP_SIZE * line % self._size
        lanes = [Lane(lane, first + stride * lane) for lane in lanes_of(self._active(block, warp))]
        return Event(kind, block.sm, block.slot, warp, pc=self.pc(), size=4, lanes=tuple(lanes))

    def _order(self, kind: EventKind, least: MemoryOrder) -> MemoryOrder:
        rng = self._rng
        if rng.random() >= self._style.ordered:
            return least
        if kind == EventKind.LOAD:
            return MemoryOrder.ACQUIRE
        return MemoryOrder.RELEASE if kind == EventKind.STORE else rng.choice(_ORDERS)

    def _address(self, space: Space, size: int) -> int:
        """First address of an instruction, aligned to ``size``."""
        rng, style = self._rng, self._style
        is_near, is_outside = rng.random() < style.locality, rng.random() < style.outside
        if space == Space.SHARED:
            window = max(self._params.shared_bytes, 16)
            address = rng.randrange(min(16 * style.words, window) if is_near else window)
            return (address + window * is_outside) & -size
        address = rng.choice(self._words) if is_near else self._base + rng.randrange(self._size)
        if size < 4:
            address += rng.randrange(4)
        if is_outside:
            low, high = self._size.bit_length() - 1, self._params.address_bits
            address ^= 1 << rng.randrange(low, high)
        return address & (1 << self._params.address_bits) - 1 & -size

    def _lanes(self, block: Block, warp: int, space: Space, size: int) -> Iterator[Lane]:
        """Some lanes that run: at consecutive addresses, all at one, or each at one of two."""
        rng, active = self._rng, lanes_of(self._active(block, warp))
        count = rng.randint(1, min(self._style.lanes, len(active)))
        if rng.random() < self._style.wander:
            self._lane = rng.randrange(WARP_SIZE)
        first, draw = 0, rng.random()
        if draw < 0.2:
            first = rng.randrange(len(active) - count + 1)
        elif draw < 0.6:
            # Any lane must be now and then in all accesses of some time, with others of its tiles.
            lane = self._lane ^ (1 << rng.randrange(_TILE_LOG2)) * (rng.random() < 0.5)
            first = min(bisect_left(active, lane), len(active) - count)
        address, pattern = self._address(space, size), rng.random()
        mask = (1 << self._params.address_bits) - 1
        for place, lane in enumerate(active[first : first + count]):
            offset = size * place
            if pattern < 0.4:
                offset = 0
            elif pattern < 0.6:
                offset = size * rng.randrange(2)
            yield Lane(lane, address + offset & mask)


def random_events(
    params: CausalityParams, region: Region, style: Style, seed: int, instructions: int
) -> Iterator[Event]:
    """Random run from KERNEL_BEGIN to KERNEL_END; the same seed gives the same run.

    Consecutive lanes may run past the end of the region, which is legal.

    Parameters
    ----------
    params : CausalityParams
        Configuration, for its geometry.
    region : Region
        Monitored region.
    style : Style
        Style of the run.
    seed : int
        Seed of all randomness.
    instructions : int
        Instructions drawn.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """
    region.check(params)
    return _Generator(params, region, style, seed).run(instructions)
