"""Constrained-random GPU runs: complete, legal traces for volume and for corner cases.

Nothing is executed: which CAS succeeds is drawn too, so that states which a well-behaved
program never reaches are reached as well.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racetrap.golden_model.events import WARP_SIZE, AtomicOp, Event, EventKind, Lane, Scope
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.gpu.random_run import Block, Draw, RandomRun
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.scord.knobs import Knobs

_CAS_SUCCEEDS = 0.8
_EXCH_FREES = 0.8
_BROADCAST, _SCATTER = 0.1, 0.2
#: Fraction of hot words that are first or last in one of several regions.
_BORDER = 0.4
#: Fraction of wraps of a slot's generation, if there are generations.
_NEW_BLOCKS = 0.3


class _Generator(RandomRun):
    """One random run; see :func:`random_events`."""

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, knobs: Knobs, seed: int
    ) -> None:
        self._knobs, self._params = knobs, params
        super().__init__(params, knobs, seed)
        self._region, self._parts = region, region.parts
        self._address_mask = (1 << params.address_bits) - 1
        self._hot = [self._word() for _ in range(knobs.hot_words)]
        self._locks = [self._word() for _ in range(knobs.lock_words)]

    def rates(self) -> Iterable[tuple[float, Draw]]:
        knobs = self._knobs
        return (
            (knobs.wrap, self._wrap),
            (knobs.churn, self.replace),
            (knobs.barriers, self.barrier),
            (knobs.fences, self._fence),
            (knobs.locks, self._lock),
            (knobs.atomics, self._other_atomic),
        )

    def _scope(self) -> Scope:
        return Scope(self._rng.random() < self._knobs.device)

    def _fence(self, block: Block, warp: int) -> list[Event]:
        return [Event(EventKind.FENCE, block.sm, block.slot, warp, self._scope(), pc=self.pc())]

    def _wrap(self, block: Block, warp: int) -> list[Event]:
        """Fences, barriers or blocks that bring one counter back to its value."""
        generations = self._params.slot_generation_bits
        if generations and self._rng.random() < _NEW_BLOCKS:
            return [each for _ in range(1 << generations) for each in self.replace(block, warp)]
        if self._rng.random() < 0.5:
            return self._fence(block, warp) * (1 << self._params.fence_id_bits)
        return self.barrier(block, warp) * (1 << self._params.barrier_id_bits)

    def access(self, block: Block, warp: int) -> list[Event]:
        rng, knobs = self._rng, self._knobs
        draw = rng.random()
        size = 4
        if draw < knobs.wide:
            size = rng.choice((8, 16))
        elif draw < knobs.wide + knobs.narrow:
            size = rng.choice((1, 2))
        kind = EventKind.STORE if rng.random() < knobs.stores else EventKind.LOAD
        strong = rng.random() >= knobs.weak
        pc, lanes = self.pc(), self._lanes(self._address(size), size)
        if kind == EventKind.STORE:
            # Every lane stores a different value, which fits in a byte.
            lanes = tuple([lane._replace(value=lane.lane + 1) for lane in lanes])
        return [Event(
            kind, block.sm, block.slot, warp, Scope(strong), strong,
            pc=pc, size=size, lanes=lanes,
        )]  # fmt: skip

    def _lock(self, block: Block, warp: int) -> list[Event]:
        op = AtomicOp.CAS if self._rng.random() < 0.6 else AtomicOp.EXCH
        return self._atomic(block, warp, op, self._rng.choice(self._locks))

    def _other_atomic(self, block: Block, warp: int) -> list[Event]:
        return self._atomic(block, warp, AtomicOp.OTHER)

    def _atomic(self, block: Block, warp: int, op: AtomicOp, address: int = -1) -> list[Event]:
        rng = self._rng
        size = 8 if rng.random() < self._knobs.wide else 4
        address = self._address(size) if address < 0 else address & -size
        lanes = self._lanes(address, size)
        if op == AtomicOp.CAS:
            lanes = tuple(
                Lane(lane.lane, lane.address, 1, 0, rng.random() < _CAS_SUCCEEDS) for lane in lanes
            )
        elif op == AtomicOp.EXCH:
            lanes = tuple(
                Lane(lane.lane, lane.address, int(rng.random() >= _EXCH_FREES)) for lane in lanes
            )
        return [Event(
            EventKind.ATOMIC, block.sm, block.slot, warp, self._scope(), True, op, self.pc(),
            size, lanes,
        )]  # fmt: skip

    def _word(self) -> int:
        """Address of a monitored word; with several regions often the first or the last of one."""
        base, size = self._part()
        if len(self._parts) > 1 and self._rng.random() < _BORDER:
            return base + self._rng.choice((0, size - 4))
        return base + 4 * self._rng.randrange(size // 4)

    def _part(self) -> tuple[int, int]:
        parts = self._parts
        return parts[0] if len(parts) == 1 else self._rng.choice(parts)

    def _address(self, size: int) -> int:
        """First address of an instruction, aligned to ``size``."""
        rng, knobs = self._rng, self._knobs
        draw = rng.random()
        if draw < knobs.locality:
            address = rng.choice(self._hot)
            if rng.random() < knobs.tag_pressure:
                base, bytes_ = next(
                    part for part in self._parts if part[0] <= address < part[0] + part[1]
                )
                distance = self._region.conflict_bytes(self._params, address)
                address += distance * rng.randrange(self._params.ratio)
                address = base + (address - base) % bytes_
        else:
            base, bytes_ = self._part()
            address = base + rng.randrange(bytes_)
        if rng.random() < knobs.outside:
            base, bytes_ = self._part()
            address += bytes_ if base < bytes_ else -bytes_
        return address & self._address_mask & -size

    def _lanes(self, address: int, size: int) -> tuple[Lane, ...]:
        """Active lanes: consecutive, all at one address, or scattered."""
        rng = self._rng
        count = rng.randint(1, self._knobs.lanes)
        if count == 1:
            return (Lane(rng.randrange(WARP_SIZE), address),)
        first = rng.randint(0, WARP_SIZE - count)
        pattern = rng.random()
        if pattern < _BROADCAST:
            return tuple([Lane(first + lane, address) for lane in range(count)])
        if pattern < _SCATTER:
            base, bytes_ = self._part()
            return tuple(
                [
                    Lane(first + lane, base + size * rng.randrange(bytes_ // size))
                    for lane in range(count)
                ]
            )
        mask = self._address_mask
        return tuple([Lane(first + lane, address + size * lane & mask) for lane in range(count)])


def random_events(
    params: ScordParams, region: MonitoredRegion, knobs: Knobs, seed: int, instructions: int
) -> Iterator[Event]:
    """Random run from KERNEL_BEGIN to KERNEL_END; the same seed gives the same run.

    Consecutive lanes may run past the end of the region, which is legal.

    Parameters
    ----------
    params : ScordParams
        Configuration, for its geometry, tags and widths of counters.
    region : MonitoredRegion
        Monitored region.
    knobs : Knobs
        Style of the run.
    seed : int
        Seed of all randomness.
    instructions : int
        Instructions drawn; a wrap counts as one.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters, or the rates sum to more than 1.
    """
    region.check(params)
    return _Generator(params, region, knobs, seed).run(instructions)


def transactions_of(
    events: Iterable[Event], params: ScordParams
) -> Iterator[tuple[int, Transaction]]:
    """SM and transaction of everything in ``events`` that a tracker sees, in order."""
    for event in events:
        for transaction in coalesce(event, params):
            yield event.sm, transaction


def at_tiles(
    transactions: Iterable[tuple[int, Transaction]], places: TilePlaces
) -> Iterator[tuple[int, Transaction]]:
    """Transactions of ``places.playing``, moved to the tiles that are there."""
    for sm, transaction in transactions:
        if transaction.kind <= TransactionKind.ATOMIC:
            line, mask = places.line(transaction.line, transaction.mask)
            locks = transaction.lock_mask & mask
            transaction = transaction._replace(line=line, mask=mask, lock_mask=locks)
        yield places.sms[sm], transaction
