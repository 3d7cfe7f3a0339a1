"""Random runs of a GPU, common to all detectors: placement of blocks, and drawn instructions.

Nothing is executed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.params import GpuParams

#: Program counters of a run.
_PCS = 64


class Block(NamedTuple):
    """A block in its slot, and its warps."""

    sm: int
    slot: int
    first_warp: int
    warps: int


#: Makes the events of an instruction of a warp.
Draw = Callable[[Block, int], Iterable[Event]]


class RandomRun(ABC):
    """One random run, reproducible by its seed.

    Parameters
    ----------
    params : GpuParams
        Configuration, for its geometry.
    style : object
        Style of the run: ``sms``, ``blocks`` and ``warps`` are limited by the configuration; the
        rest is the detector's.
    seed : int
        Seed of all randomness.

    Raises
    ------
    ValueError
        If the rates sum to more than 1.
    """

    def __init__(self, params: GpuParams, style: Any, seed: int) -> None:
        self._rng = Random(seed)
        # Few, over all bits.
        self._pcs = Random(f"program counters {seed}").sample(range(1 << params.pc_bits), _PCS)
        slots = min(style.blocks, params.blocks_per_sm)
        warps = max(1, min(style.warps, params.warps_per_sm // slots))
        slots = min(slots, params.warps_per_sm // warps)
        self._blocks = [
            Block(sm, slot, slot * warps, warps)
            for sm in range(min(style.sms, params.sm_count))
            for slot in range(slots)
        ]
        self._grid_block = 0
        rates, draws = zip(*self.rates(), strict=True)
        self._thresholds: list[float] = list(accumulate(rates))
        self._draws: Sequence[Draw] = [*draws, self.access]
        if self._thresholds[-1] > 1:
            raise ValueError(f"Sum of the rates must be at most 1, not {self._thresholds[-1]:g}")

    @abstractmethod
    def rates(self) -> Iterable[tuple[float, Draw]]:
        """Rates of instructions; the rest are accesses."""

    @abstractmethod
    def access(self, block: Block, warp: int) -> Iterable[Event]:
        """An access."""

    def run(self, instructions: int) -> Iterator[Event]:
        """The whole trace, from KERNEL_BEGIN to KERNEL_END."""
        rng = self._rng
        yield Event(EventKind.KERNEL_BEGIN)
        for block in self._blocks:
            yield self._place(block)
        for _ in range(instructions):
            block = rng.choice(self._blocks)
            warp = block.first_warp + rng.randrange(block.warps)
            yield from self._draws[bisect_right(self._thresholds, rng.random())](block, warp)
        for block in self._blocks:
            yield Event(EventKind.BLOCK_RETIRED, block.sm, block.slot)
        yield Event(EventKind.KERNEL_END)

    def replace(self, block: Block, warp: int) -> list[Event]:
        """Retire a block and place another in its slot."""
        return [Event(EventKind.BLOCK_RETIRED, block.sm, block.slot), self._place(block)]

    def barrier(self, block: Block, warp: int) -> list[Event]:
        """A barrier of a block."""
        return [Event(EventKind.BARRIER, block.sm, block.slot, pc=self.pc())]

    def pc(self) -> int:
        """Program counter of an instruction."""
        return self._pcs[self._rng.randrange(_PCS)]

    def _place(self, block: Block) -> Event:
        self._grid_block += 1
        return Event(
            EventKind.BLOCK_PLACED, block.sm, block.slot, block.first_warp,
            warp_count=block.warps, grid_block=self._grid_block - 1,
        )  # fmt: skip
