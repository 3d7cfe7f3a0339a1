"""Constrained-random GPU runs: complete, legal traces for volume and for corner cases.

Nothing is executed.  A run is drawn from a style: number of shared words, rate of barriers, and so
on.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from racetrap.golden_model.events import WARP_SIZE, AtomicOp, Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.gpu.random_run import Block, Draw, RandomRun


@dataclass(frozen=True)
class Style:
    """Style of a random run.  Fractions and rates are from 0 to 1.

    Parameters
    ----------
    sms, blocks, warps : int
        SMs used, blocks on each, warps of each block; reduced to what a configuration has.
    words : int
        Contended words, in global memory and in each block's shared memory.
    locality : float
        Fraction of accesses of those words; the others are anywhere.
    shared, outside : float
        Fraction of accesses to shared memory, and outside the region or the window.
    barriers, warp_barriers, churn, fences : float
        Rate of barriers of a block and of a warp, of block replacements, and of fences among all
        instructions; the rest are accesses.
    atomics, stores : float
        Fraction of atomics among accesses, and of stores among the others.
    device : float
        Fraction of device scope among atomics.
    lanes, threads : int
        Maximum active lanes of an instruction, and lanes of a warp that are ever active.
    wide : float
        Fraction of accesses of 8 and 16 bytes.
    wrap : float
        Rate at which the count of a block, a warp or a slot is wrapped exactly once.
    """

    sms: int = 2
    blocks: int = 2
    warps: int = 2
    words: int = 8
    locality: float = 0.9
    shared: float = 0.2
    outside: float = 0.01
    barriers: float = 0.08
    warp_barriers: float = 0.12
    churn: float = 0.004
    fences: float = 0.02
    atomics: float = 0.3
    stores: float = 0.3
    device: float = 0.6
    lanes: int = 4
    threads: int = WARP_SIZE
    wide: float = 0.1
    wrap: float = 0.0


_DEFAULT = Style()

#: Styles by name.
STYLES: dict[str, Style] = {
    # A little of everything.
    "mixed": _DEFAULT,
    # One warp's lanes on a word: states of a thread and of a warp.
    "warp": replace(
        _DEFAULT, sms=1, blocks=1, warps=1, words=2, locality=1.0, lanes=2, threads=4,
    ),
    # One block on a word, mostly reads behind barriers: states of a block.
    "block": replace(
        _DEFAULT, sms=1, words=2, locality=1.0, lanes=1, threads=2, stores=0.1, atomics=0.1,
        warp_barriers=0.25, barriers=0.15,
    ),
    # Atomics of both scopes.
    "atomics": replace(_DEFAULT, words=3, locality=1.0, atomics=0.8, lanes=2, threads=4),
    # A word is written once, then atomics between barriers: of a warp, and of a block.
    "atomics-of-a-warp": replace(
        _DEFAULT, words=1, locality=1.0, atomics=0.7, stores=0.7, lanes=2, threads=3,
        barriers=0.05, warp_barriers=0.3,
    ),
    "atomics-of-a-block": replace(
        _DEFAULT, sms=1, words=2, locality=1.0, atomics=0.8, stores=0.9, lanes=1, threads=2,
        barriers=0.2, warp_barriers=0.25,
    ),
    # Counts wrap between two accesses.
    "wraps": replace(_DEFAULT, words=2, locality=1.0, lanes=1, wrap=0.03),
    # Full warps over the whole GPU: volume.
    "streaming": replace(
        _DEFAULT, sms=64, blocks=8, warps=4, locality=0.1, lanes=WARP_SIZE, wide=0.2,
    ),
}  # fmt: skip


class _Generator(RandomRun):
    """One random run; see :func:`random_events`."""

    def __init__(self, params: HiraceParams, region: Region, style: Style, seed: int) -> None:
        self._style, self._params = style, params
        super().__init__(params, style, seed)
        self._base, self._size = region.data_base, 1 << region.size_log2
        self._words = [self._base + 4 * self._rng.randrange(self._size // 4) & -16
                       for _ in range(style.words)]  # fmt: skip

    def rates(self) -> Iterable[tuple[float, Draw]]:
        style = self._style
        return (
            (style.wrap, self._wrap),
            (style.churn, self.replace),
            (style.barriers, self.barrier),
            (style.warp_barriers, self._warp_barrier),
            (style.fences, self._fence),
        )

    def _warp_barrier(self, block: Block, warp: int) -> list[Event]:
        return [Event(EventKind.WARP_BARRIER, block.sm, block.slot, warp, pc=self.pc())]

    def _fence(self, block: Block, warp: int) -> list[Event]:
        return [Event(EventKind.FENCE, block.sm, block.slot, warp, pc=self.pc())]

    def _wrap(self, block: Block, warp: int) -> list[Event]:
        """Events that bring one count back to its value."""
        make, bits = self._rng.choice((
            (self.barrier, self._params.barrier_bits),
            (self._warp_barrier, self._params.warp_barrier_bits),
            (self.replace, self._params.generation_bits),
        ))  # fmt: skip
        # The widest counts would be most of the run.
        return [event for _ in range(1 << min(bits, 5)) for event in make(block, warp)]

    def access(self, block: Block, warp: int) -> list[Event]:
        rng, style = self._rng, self._style
        kind = EventKind.STORE if rng.random() < style.stores else EventKind.LOAD
        if rng.random() < style.atomics:
            kind = EventKind.ATOMIC
        is_atomic = kind == EventKind.ATOMIC
        size = rng.choice((8, 8 if is_atomic else 16)) if rng.random() < style.wide else 4
        space = Space(rng.random() < style.shared)
        lanes = self._lanes(self._address(space, size), size)
        scope = Scope(is_atomic and rng.random() < style.device)
        return [Event(
            kind, block.sm, block.slot, warp, scope, is_atomic, AtomicOp.OTHER if is_atomic else
            AtomicOp.CAS, self.pc(), size, lanes, space=space,
        )]  # fmt: skip

    def _address(self, space: Space, size: int) -> int:
        """First address of an instruction, aligned to ``size``."""
        rng, style = self._rng, self._style
        is_near, is_outside = rng.random() < style.locality, rng.random() < style.outside
        if space == Space.SHARED:
            window = max(self._params.shared_bytes, 16)
            address = rng.randrange(min(16 * style.words, window) if is_near else window)
            return (address + window * is_outside) & -size
        address = rng.choice(self._words) if is_near else self._base + rng.randrange(self._size)
        if is_outside:
            low, high = self._size.bit_length() - 1, self._params.address_bits
            address ^= 1 << rng.randrange(low, high)
        return address & (1 << self._params.address_bits) - 1 & -size

    def _lanes(self, address: int, size: int) -> tuple[Lane, ...]:
        """Active lanes: consecutive, all at one address, or each at one of two."""
        rng = self._rng
        count = rng.randint(1, self._style.lanes)
        first = rng.randint(0, self._style.threads - count)
        pattern = rng.random()
        mask = (1 << self._params.address_bits) - 1
        offsets: Iterable[int] = range(0, count * size, size)
        if pattern < 0.4:
            offsets = [0] * count
        elif pattern < 0.6:
            offsets = [size * rng.randrange(2) for _ in range(count)]
        return tuple(
            [Lane(first + lane, address + offset & mask) for lane, offset in enumerate(offsets)]
        )


def random_events(
    params: HiraceParams, region: Region, style: Style, seed: int, instructions: int
) -> Iterator[Event]:
    """Random run from KERNEL_BEGIN to KERNEL_END; the same seed gives the same run.

    Consecutive lanes may run past the end of the region, which is legal.

    Parameters
    ----------
    params : HiraceParams
        Configuration, for its geometry and the widths of counts.
    region : Region
        Monitored region.
    style : Style
        Style of the run.
    seed : int
        Seed of all randomness.
    instructions : int
        Instructions drawn; a wrap counts as one.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """
    region.check(params)
    return _Generator(params, region, style, seed).run(instructions)
