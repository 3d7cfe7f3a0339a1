"""Tracker: the part of HiRace in each SM, from transactions to packets with their counts.

Ref: HiRace (SC'24): counts of the barriers that a thread has passed.
"""

from __future__ import annotations

from racetrap.golden_model.hirace.packets import Packet, Transaction, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams


class Tracker:
    """Counts of one SM: barriers and blocks of each block slot, barriers of each warp slot.

    Parameters
    ----------
    params : HiraceParams
        Configuration.
    sm : int
        Number of the SM.

    Attributes
    ----------
    barriers, generations, warp_barriers : list of int
        Counts by slot; all wrap.
    """

    def __init__(self, params: HiraceParams, sm: int) -> None:
        self._params = params
        self._first_block = params.block_id(sm, 0)
        self.clear()

    def clear(self) -> None:
        """Set all counts to 0, as at kernel launch."""
        self.barriers = [0] * self._params.blocks_per_sm
        self.generations = [0] * self._params.blocks_per_sm
        self.warp_barriers = [0] * self._params.warps_per_sm

    def step(self, transaction: Transaction) -> list[Packet]:
        """Packets of a transaction: one for each word, lowest first."""
        kind, scope, shared, slot, warp, lane, pc, word, more = transaction
        if kind > TransactionKind.ATOMIC:
            self._count(kind, slot, warp)
            return []
        words = (1 << self._params.word_bits) - 1
        return [
            Packet(
                kind, scope, shared, lane, warp, self._first_block | slot, self.generations[slot],
                self.barriers[slot], self.warp_barriers[warp], pc, word + offset & words,
            )
            for offset in range(more + 1)
        ]  # fmt: skip

    def _count(self, kind: int, slot: int, warp: int) -> None:
        params = self._params
        if kind == TransactionKind.BARRIER:
            self.barriers[slot] = self.barriers[slot] + 1 & (1 << params.barrier_bits) - 1
        elif kind == TransactionKind.WARP_BARRIER:
            counts = self.warp_barriers
            counts[warp] = counts[warp] + 1 & (1 << params.warp_barrier_bits) - 1
        elif kind == TransactionKind.BLOCK_START:
            generations = self.generations
            generations[slot] = generations[slot] + 1 & (1 << params.generation_bits) - 1
