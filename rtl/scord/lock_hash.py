"""Lock hash and block masks in gates: one XOR tree for each hash bit.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Value

from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash_columns
from racetrap.golden_model.scord.params import LOCK_HASH_BITS, ScordParams
from racetrap.rtl.common.h3 import h3_hash_of


def lock_hash_of(word: Value) -> Value:
    """Six-bit hash of a word address, combinational."""
    return h3_hash_of(lock_hash_columns(len(word)), LOCK_HASH_BITS, word)


def block_masks_of(params: ScordParams, sm: int) -> Value:
    """Key masks of an SM's blocks, a constant: that of slot 0 lowest."""
    masks = (block_mask(params.block_id(sm, slot)) for slot in range(params.blocks_per_sm))
    return Cat(Const(mask, LOCK_HASH_BITS) for mask in masks)
