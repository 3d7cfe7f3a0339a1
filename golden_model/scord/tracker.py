"""Tracker: the part of ScoRD in each SM, from transactions to packets.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (barrier ids and lock tables of the SM).
"""

from __future__ import annotations

from typing import Final

from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.scord.barrier_ids import BarrierIds, Generations
from racetrap.golden_model.scord.lock_hash import lock_hash
from racetrap.golden_model.scord.lock_table import LockTable
from racetrap.golden_model.scord.packets import Packet, PacketKind, Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams

_LINE_SHIFT: Final = WORDS_PER_LINE.bit_length() - 1
# Plain numbers of enumerations, which are compared for every transaction.
_ATOMIC: Final = int(TransactionKind.ATOMIC)
_FENCE: Final = int(TransactionKind.FENCE)
_BARRIER: Final = int(TransactionKind.BARRIER)
_BLOCK_START: Final = int(TransactionKind.BLOCK_START)
_CAS: Final = int(AtomicOp.CAS)
_EXCH: Final = int(AtomicOp.EXCH)


def granule_mask(mask: int, granularity: int) -> int:
    """Mask of words reduced to granules.

    In each aligned group of ``granularity`` bytes the lowest word represents the group; its bit is
    set iff any word's bit was.
    """
    words = granularity // 4
    for distance in range(1, words):
        mask |= (mask >> distance) & _lowest_words(words)
    return mask & _lowest_words(words)


def _lowest_words(words: int) -> int:
    """Mask of the first word of each aligned group of ``words``."""
    return ((1 << WORDS_PER_LINE) - 1) // ((1 << words) - 1)


class Tracker:
    """Barrier ids, generations and lock tables of one SM.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    sm : int
        Number of the SM.

    Attributes
    ----------
    barrier_ids : BarrierIds
        Counters of the SM's block slots.
    generations : Generations
        Generation of each block slot.
    lock_tables : list of LockTable
        Tables of the SM's warp slots.

    Raises
    ------
    ValueError
        If there is no such SM.
    """

    def __init__(self, params: ScordParams, sm: int) -> None:
        if not 0 <= sm < params.sm_count:
            raise ValueError(f"SM must be from 0 to {params.sm_count - 1}, not {sm}")
        self._granularity = params.granularity
        self._first_block = params.block_id(sm, 0)
        self.barrier_ids = BarrierIds(params)
        self.generations = Generations(params)
        self.lock_tables = [LockTable(params.lock_table_depth) for _ in range(params.warps_per_sm)]

    def step(self, transaction: Transaction) -> list[Packet]:
        """Packets of one transaction, in the order in which they leave the SM."""
        kind, scope, strong, _, slot, warp, pc, line, mask, _ = transaction
        if kind == _BARRIER:
            self.barrier_ids.increment(slot)
            return []
        if kind == _BLOCK_START:
            self._start(transaction)
            return []

        block = self._first_block | slot
        table = self.lock_tables[warp]
        if kind == _FENCE:
            table.fence(scope)
            return [Packet(PacketKind.FENCE, scope, 0, block, warp, 0, 0, 0, 0)]
        if kind == _ATOMIC:
            return self._atomic(transaction, block, table)

        if self._granularity > 4:
            mask = granule_mask(mask, self._granularity)
        barrier_id, generation = self.barrier_ids.ids[slot], self.generations.ids[slot]
        locks = table.filter(block) if table.entries else 0
        word = line << _LINE_SHIFT
        packets = []
        while mask:
            lowest = mask & -mask
            offset = lowest.bit_length() - 1
            packets.append(
                Packet(
                    kind, scope, strong, block, warp, barrier_id, locks, pc, word + offset,
                    generation,
                )
            )  # fmt: skip
            mask ^= lowest
        return packets

    def clear(self) -> None:
        """Clear all locks, barriers and generations, as at kernel launch."""
        self.barrier_ids.clear()
        self.generations.clear()
        for table in self.lock_tables:
            table.clear()

    def _start(self, transaction: Transaction) -> None:
        """Start a block; one without a warp in the SM has no effect."""
        warps = transaction.warps & (1 << len(self.lock_tables)) - 1
        if warps:
            self.generations.increment(transaction.slot)
        for number, table in enumerate(self.lock_tables):
            if warps >> number & 1:
                table.clear()

    def _atomic(self, transaction: Transaction, block: int, table: LockTable) -> list[Packet]:
        """Packets of an atomic; each word's lock update comes after its packet."""
        kind, scope, strong, op, slot, warp, pc, line, mask, lock_mask = transaction
        barrier_id, generation = self.barrier_ids.ids[slot], self.generations.ids[slot]
        packets = []
        for offset in range(WORDS_PER_LINE):
            if not mask >> offset & 1:
                continue
            word = line << _LINE_SHIFT | offset
            locks = table.filter(block)
            packets.append(
                Packet(kind, scope, strong, block, warp, barrier_id, locks, pc, word, generation)
            )
            if lock_mask >> offset & 1:
                if op == _CAS:
                    table.insert(lock_hash(word), scope)
                elif op == _EXCH:
                    table.remove(lock_hash(word), scope)
        return packets
