"""Entry locator: the entry and tag of a word of global memory, or of a block's shared memory.

The lower half of the entries belongs to the monitored region, the upper half to the window:
``shared_bytes`` of each block slot of the GPU, by SM and slot.

Ref: HiRace (SC'24): a word of the method for each word of global and of shared memory; ScoRD
(ISCA'20) Section IV-B: a tag distinguishes words that share an entry.
"""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region


class LocatedPacket(Protocol):
    """What a packet says of its word."""

    @property
    def word(self) -> int:
        """Word address; in shared memory it counts from the block's first byte."""

    @property
    def shared(self) -> int:
        """Whether the word is in shared memory."""

    @property
    def block(self) -> int:
        """BlockID."""


def locate(params: GpuParams, region: Region, packet: LocatedPacket) -> tuple[int, int] | None:
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


def entry_of(params: GpuParams, region: Region, packet: LocatedPacket) -> int | None:
    """Index of a packet's entry; None if its word is not monitored."""
    place = locate(params, region, packet)
    return None if place is None else place[0]
