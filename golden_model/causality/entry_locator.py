"""Entry locator: the entry and tag of a word of global memory, or of a block's shared memory.

The lower half of the entries are those of the monitored region, the upper half those of the
window: ``shared_bytes`` of each block slot of the GPU, by SM and slot.

Ref: ScoRD (ISCA'20) Section IV-B (a tag distinguishes words that share an entry).
"""

from __future__ import annotations

from racetrap.golden_model.causality.packets import Packet
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region


def locate(params: CausalityParams, region: Region, packet: Packet) -> tuple[int, int] | None:
    """Index and tag of a packet's entry; None if its word is not monitored."""
    word, shift = packet.word, region.size_log2 - 2
    entries = region.entries(params)
    if not packet.shared:
        if word >> shift != region.data_base >> shift + 2:
            return None
        half = entries >> (params.shared_bytes > 0)
        tag, index = divmod(word & (1 << shift) - 1, half)
        return index, tag
    if not params.shared_bytes or word >> params.shared_words_log2:
        return None
    half = entries // 2
    tag, index = divmod(packet.block << params.shared_words_log2 | word, half)
    return half | index, tag
