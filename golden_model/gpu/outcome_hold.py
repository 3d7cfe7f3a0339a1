"""Outcome hold: each CAS waits until its outcome is known, and its warp with it.

Ref: ScoRD (ISCA'20) Section IV-A (a CAS that succeeds takes a lock).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.issue import OF_BLOCK, Instruction
from racetrap.golden_model.gpu.params import GpuParams


class OutcomeHold:
    """CAS instructions whose outcome is not known yet, at most one of a warp.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Attributes
    ----------
    held : dict of int to Instruction
        By warp slot.
    """

    def __init__(self, params: GpuParams):
        self._places = params.outstanding_cas
        self.held: dict[int, Instruction] = {}

    def may_take(self, instruction: Instruction) -> bool:
        """Whether nothing issued before must leave first, and a CAS finds a place."""
        if instruction.kind in OF_BLOCK:
            return instruction.slot not in [each.slot for each in self.held.values()]
        has_place = not instruction.is_cas or len(self.held) < self._places
        return instruction.warp not in self.held and has_place

    def take(self, instruction: Instruction) -> list[Instruction]:
        """Instructions that leave when one is issued: itself, unless it is a CAS."""
        if not instruction.is_cas:
            return [instruction]
        self.held[instruction.warp] = instruction
        return []

    def answer(self, warp: int, success: int) -> Instruction:
        """The CAS of a warp leaves with its outcome.

        Raises
        ------
        KeyError
            If the warp has none.
        """
        return self.held.pop(warp)._replace(success=success)
