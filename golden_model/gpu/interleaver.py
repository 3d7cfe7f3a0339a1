"""Bank of a metadata entry, and port of a segment, by their index.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the banked form of a detector is ours).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.params import GpuParams


def bank_of(params: GpuParams, word: int) -> int:
    """Bank of a word address: that of its metadata entry.

    The index is the low part of the granule's number, and a region's base is a multiple of its
    size, so the bank follows from a bit field of the address: the region need not be known.
    """
    return bank_of_entry(params, word >> (params.granularity_bits - 2))


def bank_of_entry(params: GpuParams, index: int) -> int:
    """Bank of a metadata entry, by its index: a bank of the port of its segment."""
    if params.odd_ports == 1:
        return index & (params.banks - 1)
    lanes = params.words_per_cycle
    return port_of(params, index // lanes) * lanes + index % lanes


def port_of(params: GpuParams, segment: int) -> int:
    """Metadata port of a segment of entries, by its index.

    The ports are a power of two times an odd number.  The lowest bits of the index are those of
    the port's number; the rest of it is a residue by the odd number, of so many bits as the
    smallest region has.
    """
    low, residue = params.port_bits, segment >> params.port_bits
    residue &= (1 << params.residue_bits) - 1
    return residue % params.odd_ports << low | segment & ((1 << low) - 1)
