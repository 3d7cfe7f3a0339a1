"""Lock hash and block masks in gates: one XOR tree for each hash bit.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from amaranth.hdl import Array, Const, Value

from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash_columns
from racetrap.golden_model.scord.params import LOCK_HASH_BITS, ScordParams
from racetrap.rtl.common.h3 import h3_hash_of

__all__ = ["block_mask_of", "lock_hash_of"]


def lock_hash_of(word: Value) -> Value:
    """Six-bit hash of a word address, combinational."""
    return h3_hash_of(lock_hash_columns(len(word)), LOCK_HASH_BITS, word)


def block_mask_of(params: ScordParams, sm: int, slot: Value) -> Value:
    """Key mask of the block in ``slot`` of SM ``sm``: a constant table of ``blocks_per_sm``."""
    masks = (block_mask(params.block_id(sm, number)) for number in range(params.blocks_per_sm))
    return Array(Const(mask, LOCK_HASH_BITS) for mask in masks)[slot]
