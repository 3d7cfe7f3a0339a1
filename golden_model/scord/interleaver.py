"""Interleaver: the detector bank that checks a word.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the banked form of the detector is ours).
"""

from __future__ import annotations

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["bank_of"]


def bank_of(params: ScordParams, word: int) -> int:
    """Bank of a word address: its metadata entry's index modulo the number of banks.

    The index is the low part of the granule's number, and a region's base is a multiple of its
    size, so the bank is a bit field of the address: the region need not be known.
    """
    return word >> (params.granularity_bits - 2) & (params.banks - 1)
