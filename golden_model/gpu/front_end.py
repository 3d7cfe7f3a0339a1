"""Front end: from the issue stream of an SM to transactions, by the detector's own coalescer.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.barrier_counter import BarrierCounter
from racetrap.golden_model.gpu.issue import Instruction, event_of
from racetrap.golden_model.gpu.outcome_hold import OutcomeHold
from racetrap.golden_model.gpu.params import GpuParams


class FrontEnd:
    """Outcome hold, barrier counter and coalescer of one SM.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    transactions : callable
        The detector's coalescer: transactions of an event.
    sm : int
        Number of the SM.

    Attributes
    ----------
    outcomes : OutcomeHold
        CAS instructions without an outcome.
    barriers : BarrierCounter
        Barriers that blocks have not passed.
    """

    def __init__(
        self, params: GpuParams, transactions: Callable[[Event, Any], list[Any]], sm: int = 0
    ):
        self._params, self._transactions, self._sm = params, transactions, sm
        self.outcomes = OutcomeHold(params)
        self.barriers = BarrierCounter(params)

    def step(self, instruction: Instruction) -> list[Any]:
        """Transactions when an instruction is issued, which ``outcomes`` may take."""
        return self._split(self.outcomes.take(instruction))

    def answer(self, warp: int, success: int) -> list[Any]:
        """Transactions when the outcome of a warp's CAS is known."""
        return self._split([self.outcomes.answer(warp, success)])

    def _split(self, instructions: list[Instruction]) -> list[Any]:
        return [
            transaction
            for instruction in instructions
            for counted in self.barriers.step(instruction)
            for transaction in self._transactions(event_of(counted, self._sm), self._params)
        ]
