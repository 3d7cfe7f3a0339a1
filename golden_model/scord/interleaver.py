"""Interleaver: the detector bank to which a packet goes, by its word.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the paper has no banks).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.region import bank_of
from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.golden_model.scord.params import ScordParams


def banks_of(params: ScordParams, packet: Packet) -> range:
    """Banks that a packet goes to: all for a fence, that of its word for an access."""
    if packet.kind == PacketKind.FENCE:
        return range(params.banks)
    bank = bank_of(params, packet.word)
    return range(bank, bank + 1)
