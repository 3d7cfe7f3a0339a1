"""Architectural state of a configuration, in bits.

It counts what the method needs, without an implementation's registers, FIFOs and windows.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.golden_model.hirace.params import HiraceParams


def state_bits(params: HiraceParams) -> dict[str, int]:
    """State bits of the whole instance by kind."""
    blocks = params.sm_count * params.blocks_per_sm
    warps = params.sm_count * params.warps_per_sm
    return {
        "barriers": blocks * params.barrier_bits,
        "generations": blocks * params.generation_bits,
        "warp_barriers": warps * params.warp_barrier_bits,
    }
