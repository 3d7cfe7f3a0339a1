"""Barrier counter: from the arrivals of warps to the barriers that blocks pass.

Ref: PTX ISA 9.0, Section 9.7.13.1 (bar).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.gpu.params import GpuParams


class _Barrier:
    """A barrier at which some lanes are; warps are counted from the block's first."""

    def __init__(self, warps: int, pc: int):
        self.warps, self.pc = warps, pc
        self.arrived: dict[int, int] = {}
        self.waiting = 0


class BlockWarps:
    """Warps of a block, and the barriers at which some of them are."""

    def __init__(self, start: Instruction, lanes: int):
        count = start.warps.bit_count()
        self.first = start.warp
        #: Lanes of each warp that have not ended.
        self.living = [(1 << lanes) - 1] * (count - 1) + [start.lanes]
        self.barriers: dict[int, _Barrier] = {}

    @property
    def living_warps(self) -> int:
        """Warps that have not ended, one bit each."""
        return sum(1 << number for number, lanes in enumerate(self.living) if lanes)


class BarrierCounter:
    """Barriers of the blocks of one SM.

    A block passes a barrier when as many warps have arrived as its first arrival says, or all that
    have not ended.  If all of these have waited, it is a barrier of the block: where a number is
    given, all warps must have, those that have ended as well.  Otherwise it is one of some warps.
    A warp has arrived with its first lane, or if lanes are scheduled independently with all of them
    that have not ended.  The program counter is that of the last arrival, or if a warp's end lets
    the others pass that of the first.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    """

    def __init__(self, params: GpuParams):
        self._independent, self._lanes = params.independent_threads, params.lanes
        self._blocks: dict[int, BlockWarps] = {}

    def step(self, instruction: Instruction) -> list[Instruction]:
        """What an instruction becomes: barriers that are passed, what else it is."""
        kind = instruction.kind
        if kind == IssueKind.BLOCK_START:
            self._blocks[instruction.slot] = BlockWarps(instruction, self._lanes)
            return [instruction]
        if kind == IssueKind.EXIT:
            return self._exit(instruction)
        if kind not in (IssueKind.BARRIER, IssueKind.ARRIVE):
            return [instruction]
        block = self._blocks[instruction.slot]
        warp = instruction.warp - block.first
        new = _Barrier(instruction.warps, instruction.pc)
        barrier = block.barriers.setdefault(instruction.number, new)
        barrier.arrived[warp] = barrier.arrived.get(warp, 0) | instruction.lanes
        arrival = []
        if kind == IssueKind.BARRIER:
            barrier.waiting |= 1 << warp
        else:
            arrival = [instruction._replace(warps=0, lanes=0)]
        return [*arrival, *self._pass(block, instruction)]

    def waits(self, slot: int, warp: int, lanes: int) -> bool:
        """Whether lanes of a warp are at a barrier that is not passed yet."""
        block = self._blocks[slot]
        here = warp - block.first
        return any(
            barrier.waiting >> here & 1 and barrier.arrived[here] & lanes
            for barrier in block.barriers.values()
        )

    def _exit(self, instruction: Instruction) -> list[Instruction]:
        """Lanes end: barriers may have waited only for them, those of low numbers first."""
        block = self._blocks[instruction.slot]
        block.living[instruction.warp - block.first] &= ~instruction.lanes
        return [
            passed
            for number in sorted(block.barriers)
            for passed in self._pass(
                block, instruction._replace(number=number, pc=block.barriers[number].pc)
            )
        ]

    def _pass(self, block: BlockWarps, instruction: Instruction) -> list[Instruction]:
        """The barrier of an instruction, if enough warps have arrived."""
        barrier = block.barriers[instruction.number]
        living = block.living_warps
        there = sum(
            1 << warp
            for warp, lanes in barrier.arrived.items()
            if not self._independent or not block.living[warp] & ~lanes
        )
        is_short = (
            there.bit_count() < barrier.warps
            if barrier.warps
            else living & ~there or not living & there
        )
        if is_short:
            return []
        del block.barriers[instruction.number]
        of_block = (1 << len(block.living)) - 1 if barrier.warps else living
        passed = Instruction(IssueKind.BARRIER, instruction.slot, pc=instruction.pc)
        if not of_block & ~barrier.waiting:
            return [passed]
        return [
            passed._replace(
                kind=IssueKind.PARTIAL_BARRIER, number=instruction.number, warps=barrier.waiting
            )
        ]
