"""Monitored region of a power of two bytes, and the entry, bank and port of an address.

Ref: ScoRD (ISCA'20) Section IV-B, Fig. 6 (the banks are our addition).
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.events import DataRegion
from racetrap.golden_model.gpu.params import GpuParams


@dataclass(frozen=True)
class Region:
    """Monitored data region and the address of its metadata, as software writes them.

    Parameters
    ----------
    data_base : int
        First byte address monitored; a multiple of the region's size.
    size_log2 : int
        Log2 of the region's size in bytes.
    metadata_base : int
        Byte address of the first metadata entry; a multiple of ``segment_bytes``.
    """

    data_base: int = 0
    size_log2: int = 16
    metadata_base: int = 0

    def check(self, params: GpuParams) -> None:
        """Raise ``ValueError`` if this region cannot be used with ``params``."""
        low, high = params.min_region_log2, params.max_region_log2
        if not low <= self.size_log2 <= high:
            raise ValueError(
                f"Region size must be from 2**{low} to 2**{high} bytes, not 2**{self.size_log2}"
            )
        DataRegion(self.data_base, self.size_log2)  # refuses a base that is not aligned
        if self.data_base + (1 << self.size_log2) > 1 << params.address_bits:
            raise ValueError(
                f"Region end must fit in {params.address_bits} address bits, "
                f"not {self.data_base + (1 << self.size_log2):#x}"
            )
        if self.metadata_base % params.segment_bytes:
            raise ValueError(
                f"Metadata base must be a multiple of {params.segment_bytes}, "
                f"not {self.metadata_base:#x}"
            )
        ((_, end),) = self.metadata_spans(params)
        if end > 1 << params.address_bits:
            raise ValueError(
                f"Metadata end must fit in {params.address_bits} address bits, not {end:#x}"
            )

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """First byte address and size of the monitored data."""
        return ((self.data_base, 1 << self.size_log2),)

    def metadata_spans(self, params: GpuParams) -> list[tuple[int, int]]:
        """First byte address of the metadata, and the first after them."""
        end = self.metadata_base + self.entries(params) * params.entry_bytes
        return [(self.metadata_base, end)]

    def indices(self, params: GpuParams) -> range:
        """Indices of the metadata entries; they lie one behind the other."""
        return range(self.entries(params))

    def numbered(self, params: GpuParams, index: int) -> tuple[int, int]:
        """Region's number and index in it of an entry."""
        return 0, index

    def conflict_bytes(self, params: GpuParams, address: int) -> int:
        """Distance in bytes to monitored data that share an entry with ``address``."""
        return self.entries(params) * params.granularity

    def contains(self, address: int) -> bool:
        """Whether a byte address is monitored."""
        return address >> self.size_log2 == self.data_base >> self.size_log2

    def entries(self, params: GpuParams) -> int:
        """Metadata entries of the region (a power of two)."""
        return 1 << (self.size_log2 - params.entry_share_log2)

    def locate(self, params: GpuParams, address: int) -> tuple[int, int]:
        """Entry index and tag of a monitored byte address: granule MOD and DIV entries."""
        granule = (address - self.data_base) >> params.granularity_bits
        tag, index = divmod(granule, self.entries(params))
        return index, tag


def bank_of(params: GpuParams, word: int) -> int:
    """Bank of a word address: that of its metadata entry.

    The index is the low part of the granule's number, and a region's base is a multiple of its
    size, so the bank follows from a bit field of the address, without the region.
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

    The ports are a power of two times an odd number.  The lowest bits of the index give those of
    the port's number; the rest is a residue by the odd number, of as many index bits as the
    smallest region has.
    """
    low, residue = params.port_bits, segment >> params.port_bits
    residue &= (1 << params.residue_bits) - 1
    return residue % params.odd_ports << low | segment & ((1 << low) - 1)
