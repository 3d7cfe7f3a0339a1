"""Entry locator: the entry of a word of global memory, or of a block's shared memory.

The lower half of the entries belongs to the monitored region, the upper half to the window:
``shared_bytes`` of each block slot of the GPU, by SM and slot.

Ref: HiRace (SC'24): a word of the method for each word of global and of shared memory.
"""

from __future__ import annotations

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.packets import Packet
from racetrap.golden_model.hirace.params import HiraceParams


def entry_of(params: HiraceParams, region: Region, packet: Packet) -> int | None:
    """Index of a packet's entry; None if its word is not monitored."""
    word = packet.word
    if not packet.shared:
        shift = region.size_log2 - 2
        return word & (1 << shift) - 1 if word >> shift == region.data_base >> shift + 2 else None
    if not params.shared_bytes or word >> params.shared_words_log2:
        return None
    window = 1 << region.size_log2 - 2
    return window | packet.block << params.shared_words_log2 | word
