"""Architectural state of a configuration, in bits, as Section IV-C of the paper counts it.

Slot generations, which the paper does not have, are counted like barrier ids.

It counts what the method needs, without an implementation's registers, FIFOs and windows.

Ref: ScoRD (ISCA'20) Section IV-C.
"""

from __future__ import annotations

from racetrap.golden_model.scord.params import LOCK_HASH_BITS, LOCK_STATE_BITS, ScordParams


def state_bits(params: ScordParams) -> dict[str, int]:
    """State bits of the whole instance by kind; each metadata port has a fence file."""
    warps = params.sm_count * params.warps_per_sm
    blocks = params.sm_count * params.blocks_per_sm
    return {
        "barrier_ids": blocks * params.barrier_id_bits,
        "generations": blocks * params.slot_generation_bits,
        "lock_tables": warps * params.lock_table_depth * (LOCK_HASH_BITS + LOCK_STATE_BITS),
        "fence_files": params.metadata_ports * warps * 2 * params.fence_id_bits,
    }
