"""Region table: several monitored regions, each of any number of lines, and their metadata.

Ref: ScoRD (ISCA'20) Section IV-B (an entry is a granule MOD the entries; several regions are our
extension).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TypeAlias

from racetrap.golden_model.gpu.params import ENTRY_BYTES, LINE_BYTES, GpuParams
from racetrap.golden_model.gpu.region import Region

#: Maximum lines of a region, limited by its register.
_MOST_LINES = (1 << 32) - 1


@dataclass(frozen=True)
class LineRegion:
    """One region of a table.

    Its granules are numbered from the last address at or before ``data_base`` at which a turn of
    the banks begins, so that the bank of a granule follows from its address alone.

    Parameters
    ----------
    data_base : int
        First byte address monitored; a multiple of 128.
    lines : int
        Lines of 128 bytes; 0 if the region is not used.
    metadata_base : int
        Byte address of the first metadata entry; a multiple of ``segment_bytes``.
    """

    data_base: int = 0
    lines: int = 0
    metadata_base: int = 0

    @property
    def end(self) -> int:
        """First byte address after the region."""
        return self.data_base + self.lines * LINE_BYTES

    def contains(self, address: int) -> bool:
        """Whether a byte address is monitored."""
        return self.data_base <= address < self.end

    def frame(self, params: GpuParams) -> int:
        """Number of the first granule that is counted, in the address space."""
        bits = params.bank_index_bits
        return self.data_base >> params.granularity_bits + bits << bits

    def entries(self, params: GpuParams) -> int:
        """Metadata entries: the minimum that suffices, the same number for each bank."""
        if not self.lines:
            return 0
        share_log2 = params.tag_bits + params.bank_index_bits
        granules = (self.end >> params.granularity_bits) - self.frame(params)
        return -(-granules >> share_log2) << params.bank_index_bits

    def metadata_end(self, params: GpuParams) -> int:
        """First byte address after the metadata."""
        return self.metadata_base + self.entries(params) * ENTRY_BYTES

    def locate(self, params: GpuParams, address: int) -> tuple[int, int]:
        """Entry of the region, and tag, of a monitored byte address: granule MOD and DIV."""
        granule = (address >> params.granularity_bits) - self.frame(params)
        tag, index = divmod(granule, self.entries(params))
        return index, tag


@dataclass(frozen=True)
class RegionTable:
    """Monitored regions of an instance with several, in the order of their registers.

    An entry's index counts from ``metadata_base``, the lowest of all; the space between the
    metadata of two regions has no entries.

    Parameters
    ----------
    regions : tuple of LineRegion
        The regions; missing ones are unused.
    """

    regions: tuple[LineRegion, ...]

    def check(self, params: GpuParams) -> None:
        """Raise ``ValueError`` if these regions cannot be used with ``params``."""
        if params.regions == 1:
            raise ValueError("Parameter regions must be at least 2 for a table of regions, not 1")
        if len(self.regions) > params.regions:
            raise ValueError(
                f"Regions must number at most {params.regions}, not {len(self.regions)}"
            )
        for number, region in self._used():
            self._check_one(params, f"Region {number}", region)
        for (one, first), (other, second) in combinations(self._used(), 2):
            if first.data_base < second.end and second.data_base < first.end:
                raise ValueError(f"Region {other} overlaps region {one}")
            if first.metadata_base < second.metadata_end(
                params
            ) and second.metadata_base < first.metadata_end(params):
                raise ValueError(f"Metadata of region {other} overlap those of region {one}")

    def _check_one(self, params: GpuParams, name: str, region: LineRegion) -> None:
        end = 1 << params.address_bits
        if not 0 <= region.lines <= _MOST_LINES:
            raise ValueError(f"{name} must be of at most 2**32 - 1 lines, not {region.lines}")
        if region.data_base < 0 or region.data_base % LINE_BYTES:
            raise ValueError(
                f"{name} base must be a multiple of {LINE_BYTES}, not {region.data_base:#x}"
            )
        if region.end > end:
            raise ValueError(
                f"{name} end must fit in {params.address_bits} address bits, not {region.end:#x}"
            )
        if region.metadata_base < 0 or region.metadata_base % params.segment_bytes:
            raise ValueError(
                f"{name} metadata base must be a multiple of {params.segment_bytes}, "
                f"not {region.metadata_base:#x}"
            )
        if region.metadata_end(params) > end:
            raise ValueError(
                f"{name} metadata end must fit in {params.address_bits} address bits, "
                f"not {region.metadata_end(params):#x}"
            )

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """First byte address and size of the monitored data of each region."""
        return tuple((one.data_base, one.lines * LINE_BYTES) for _, one in self._used())

    def metadata_spans(self, params: GpuParams) -> list[tuple[int, int]]:
        """First byte address of each region's metadata, and the first after them."""
        return [(one.metadata_base, one.metadata_end(params)) for _, one in self._used()]

    @property
    def metadata_base(self) -> int:
        """Lowest byte address of metadata."""
        return min((one.metadata_base for _, one in self._used()), default=0)

    def entries(self, params: GpuParams) -> int:
        """Entry positions from ``metadata_base`` to the end of the last region's metadata."""
        end = max((one.metadata_end(params) for _, one in self._used()), default=0)
        return (end - self.metadata_base) // ENTRY_BYTES

    def indices(self, params: GpuParams) -> Iterable[int]:
        """Indices of the metadata entries; entry ``i`` is ``8 * i`` bytes after the base."""
        return chain.from_iterable(
            range(first, first + one.entries(params))
            for _, one in self._used()
            for first in [self._first_index(one)]
        )

    def numbered(self, params: GpuParams, index: int) -> tuple[int, int]:
        """Region's number and index in it of an entry."""
        for number, one in self._used():
            within = index - self._first_index(one)
            if 0 <= within < one.entries(params):
                return number, within
        raise ValueError(f"Entry index must be of a region, not {index}")

    def conflict_bytes(self, params: GpuParams, address: int) -> int:
        """Distance in bytes to monitored data that share an entry with ``address``."""
        one = self._region_of(address)
        return 0 if one is None else one.entries(params) * params.granularity

    def contains(self, address: int) -> bool:
        """Whether a byte address is monitored."""
        return self._region_of(address) is not None

    def locate(self, params: GpuParams, address: int) -> tuple[int, int]:
        """Entry index and tag of a monitored byte address."""
        one = self._region_of(address)
        if one is None:
            raise ValueError(f"Address must be monitored, not {address:#x}")
        index, tag = one.locate(params, address)
        return self._first_index(one) + index, tag

    def _used(self) -> Iterator[tuple[int, LineRegion]]:
        return ((number, one) for number, one in enumerate(self.regions) if one.lines)

    def _first_index(self, region: LineRegion) -> int:
        return (region.metadata_base - self.metadata_base) // ENTRY_BYTES

    def _region_of(self, address: int) -> LineRegion | None:
        return next((one for one in self.regions if one.contains(address)), None)


#: Monitored data: one region, or a table of several.
MonitoredRegion: TypeAlias = Region | RegionTable


def table_of(
    params: GpuParams, parts: Iterable[tuple[int, int]], metadata_base: int
) -> RegionTable:
    """Regions of the given first addresses and lines, their metadata one after the other.

    Raises
    ------
    ValueError
        If they cannot be used with ``params``.
    """
    regions: list[LineRegion] = []
    for data_base, lines in parts:
        region = LineRegion(data_base, lines, metadata_base)
        metadata_base = region.metadata_end(params)
        regions.append(region)
    table = RegionTable(tuple(regions))
    table.check(params)
    return table


def regions_of(region: MonitoredRegion) -> tuple[LineRegion, ...]:
    """Register values of a table; a single region is its first."""
    if isinstance(region, RegionTable):
        return region.regions
    lines = 1 << region.size_log2 - (LINE_BYTES.bit_length() - 1)
    return (LineRegion(region.data_base, lines, region.metadata_base),)
