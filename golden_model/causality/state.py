"""State of a configuration by kind, in bits.

It counts what the method needs, without an implementation's registers, FIFOs and windows.  Each
bank checks with a copy of the rows and branches of all warps; all else is kept once.

Ref: ScoRD (ISCA'20) Section VI (no widths); Section IV-C (how state is counted).
"""

from __future__ import annotations

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.layout import Layout

#: Bits of a tile's size, and of the count of nested branches.
_TILE_BITS, _DEPTH_BITS = 3, 8


def branch_bits(params: CausalityParams) -> int:
    """Bits that a bank has of a warp's lanes: barriers of some of them, or nested branches."""
    clock = params.clock_bits
    if params.independent_threads:
        return clock + params.records * (WARP_SIZE + clock + _TILE_BITS)
    return _DEPTH_BITS + params.levels * (WARP_SIZE + clock)


def bits_of_warp(params: CausalityParams) -> dict[str, int]:
    """State bits of one warp slot by kind, each once.

    ``rows`` are what a bank checks with; ``collector`` is what the collector keeps, its own copy of
    the row included; ``warp_states`` are what a tracker adds to packets.
    """
    packet = params.packet_layout.fields
    state = ("clock", "released", "released_device", "sc")
    flags = 2 * params.undecided * params.flag_layout.width
    return {
        "rows": params.row_layout.width + branch_bits(params),
        "collector": params.record_layout.width + flags,
        "warp_states": Layout({name: packet[name] for name in state}).width,
    }


def state_bits(params: CausalityParams) -> dict[str, int]:
    """State bits of the whole instance by kind; each bank has rows of its own."""
    warps = params.sm_count * params.warps_per_sm
    bits = {kind: warps * each for kind, each in bits_of_warp(params).items()}
    blocks = params.sm_count * params.blocks_per_sm
    return {
        **bits,
        "rows": params.banks * bits["rows"],
        "block_warps": blocks * params.warps_per_sm,
    }


def bits_kept_once(params: CausalityParams) -> int:
    """State bits of the whole instance if rows were kept in the collector alone."""
    bits = state_bits(params)
    branches = params.sm_count * params.warps_per_sm * branch_bits(params)
    return sum(bits.values()) - bits["rows"] + branches
