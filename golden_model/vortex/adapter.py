"""Adapter: from what a Vortex core issues to the instructions that a front end takes.

Ref: Vortex 3.0, VX_operands; ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.events import Scope, lanes_of
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.vortex.issue_decoder import LANES, SLOTS, WARPS, Action, Issued
from racetrap.golden_model.vortex.window_access import (
    MONITORED,
    WINDOW_SHIFT,
    window_instruction,
)


class AdapterError(IntEnum):
    """What an adapter cannot do; a run in which it occurs means nothing."""

    NONE = 0
    UNSUPPORTED = 1
    SCATTERED = 2
    LOST = 3


class Start(NamedTuple):
    """A warp begins.

    Parameters
    ----------
    warp, slot : int
        Warp slot and block slot.
    rank, warps : int
        Number of the warp in its block, and warps of the block.
    lanes : int
        Its active lanes.
    """

    warp: int
    slot: int
    rank: int
    warps: int
    lanes: int


def check_params(params: GpuParams) -> None:
    """Raise ``ValueError`` unless a configuration is of the size of a Vortex core."""
    due = {
        "lanes": LANES, "warps_per_sm": WARPS, "blocks_per_sm": SLOTS, "address_bits": 32,
        "pc_bits": 32,
    }  # fmt: skip
    for name, value in due.items():
        if getattr(params, name) != value:
            raise ValueError(
                f"Parameter {name} must be {value} beside Vortex, not {getattr(params, name)}"
            )


class Adapter:
    """Instructions of one core for its front end.

    Attributes
    ----------
    error : AdapterError
        The first thing that could not be done.
    error_pc : int
        Program counter of the instruction that asked for it, or 0.
    """

    def __init__(self) -> None:
        self.error, self.error_pc = AdapterError.NONE, 0
        self._first, self._living = 0, [0] * SLOTS

    def start(self, start: Start) -> list[Instruction]:
        """A block begins with the first of its warps.

        The others must follow in the warp slots behind.
        """
        if start.rank:
            if start.warp != self._first + start.rank:
                self._fail(AdapterError.SCATTERED, 0)
            return []
        self._first, self._living[start.slot] = start.warp, start.warps
        warps = ((1 << start.warps) - 1) << start.warp
        if warps >> WARPS:
            self._fail(AdapterError.SCATTERED, 0)
        # Lanes that no thread has are not distinguished: warps run in lockstep.
        return [
            Instruction(
                IssueKind.BLOCK_START, start.slot, start.warp, warps=warps & (1 << WARPS) - 1,
                lanes=(1 << LANES) - 1,
            )
        ]  # fmt: skip

    def step(self, issued: Issued) -> list[Instruction]:
        """What an instruction becomes.

        An access becomes one instruction for each window that its lanes use, that of the lowest
        lane first.  The last warp that ends also ends its block.  A load from LOCK by several lanes
        is not supported: its outcome is that of one.
        """
        slot, warp, pc = issued.slot, issued.warp, issued.pc
        action = issued.action
        if action in (Action.LOAD, Action.STORE):
            return list(self._access(issued))
        if action in (Action.FENCE, Action.WSYNC):
            scope = Scope.DEVICE if action == Action.FENCE else Scope.BLOCK
            return [Instruction(IssueKind.FENCE, slot, warp, pc, scope)]
        if action in (Action.BARRIER, Action.ARRIVE):
            kind = IssueKind.BARRIER if action == Action.BARRIER else IssueKind.ARRIVE
            return [
                Instruction(
                    kind,
                    slot,
                    warp,
                    pc,
                    number=issued.number,
                    warps=issued.warps,
                    lanes=issued.lanes,
                )
            ]
        if action == Action.END:
            self._living[issued.slot] -= 1
            end = Instruction(IssueKind.EXIT, slot, warp, pc, lanes=(1 << LANES) - 1)
            is_last = not self._living[issued.slot]
            return [end] + [Instruction(IssueKind.BLOCK_END, issued.slot)] * is_last
        self._fail(AdapterError.UNSUPPORTED, issued.pc)
        return []

    def _fail(self, error: AdapterError, pc: int) -> None:
        if not self.error:
            self.error, self.error_pc = error, pc

    def _access(self, issued: Issued) -> Iterator[Instruction]:
        left = list(lanes_of(issued.lanes))
        while left:
            window = issued.addresses[left[0]] >> WINDOW_SHIFT
            group = [lane for lane in left if issued.addresses[lane] >> WINDOW_SHIFT == window]
            left = [lane for lane in left if lane not in group]
            if window in MONITORED:
                instruction = window_instruction(issued, window, group)
                if instruction.is_cas and issued.lanes.bit_count() > 1:
                    self._fail(AdapterError.UNSUPPORTED, issued.pc)
                yield instruction
