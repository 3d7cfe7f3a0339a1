"""Metadata entries and the software cache that holds them.

An entry is a plain integer in the order of ``ScordParams.entry_layout``.  Its low 22 bits
(lock filter and flags) stand at the same place in every configuration, so they are module
constants here; what lies above depends on the parameters and is in :class:`EntryShifts`.

Ref: ScoRD (ISCA'20) Section IV, Fig. 7, and Section IV-B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from racetrap.golden_model.scord.params import FILTER_BITS, Region, ScordParams

__all__ = [
    "BLK_SHARED",
    "DEV_SHARED",
    "FILTER_MASK",
    "IS_ATOM",
    "MODIFIED",
    "SCOPE",
    "STRONG",
    "UNINITIALISED_ENTRY",
    "EntryShifts",
    "SoftwareCache",
    "pack_entry",
    "unpack_entry",
]

#: Lock filter, the lowest field of an entry.
FILTER_MASK: Final = (1 << FILTER_BITS) - 1
#: Flags, as masks of an entry.
STRONG: Final = 1 << FILTER_BITS
SCOPE: Final = STRONG << 1
IS_ATOM: Final = STRONG << 2
DEV_SHARED: Final = STRONG << 3
BLK_SHARED: Final = STRONG << 4
MODIFIED: Final = STRONG << 5
#: Entry of a location that nobody has accessed: a combination that no access leaves behind.
UNINITIALISED_ENTRY: Final = MODIFIED | BLK_SHARED | DEV_SHARED


class EntryShifts:
    """Positions of the fields above the flags, for shifting instead of unpacking.

    Parameters
    ----------
    params : ScordParams
        Configuration that sets the widths.

    Attributes
    ----------
    barrier, blk_fence, dev_fence, owner, tag : int
        Bit position of each field.  ``owner`` is warp and block as one number.
    barrier_mask, fence_mask, owner_mask, tag_mask : int
        Mask of each field after shifting it down.
    """

    __slots__ = (
        "barrier", "barrier_mask", "blk_fence", "dev_fence", "fence_mask",
        "owner", "owner_mask", "tag", "tag_mask", "warp_bits",
    )  # fmt: skip

    def __init__(self, params: ScordParams) -> None:
        layout = params.entry_layout
        self.barrier = layout.offset("barrier_id")
        self.blk_fence = layout.offset("blk_fence_id")
        self.dev_fence = layout.offset("dev_fence_id")
        self.owner = layout.offset("warp")
        self.tag = layout.offset("tag")
        self.warp_bits = params.warp_bits
        self.barrier_mask = (1 << params.barrier_id_bits) - 1
        self.fence_mask = (1 << params.fence_id_bits) - 1
        self.owner_mask = (1 << params.warp_bits + params.block_bits) - 1
        self.tag_mask = (1 << params.tag_bits) - 1


def pack_entry(params: ScordParams, **values: int) -> int:
    """Entry with the given fields; fields not given are 0."""
    layout = params.entry_layout
    return layout.pack(dict.fromkeys(layout.fields, 0) | values)


def unpack_entry(params: ScordParams, entry: int) -> Mapping[str, int]:
    """Fields of an entry by name."""
    return params.entry_layout.unpack(entry)


class SoftwareCache:
    """Direct-mapped cache of metadata: where an address' entry is, and the entries themselves.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    region : Region
        Monitored region.

    Attributes
    ----------
    entries : dict of int to int
        Entry by index; an absent index is uninitialised.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    __slots__ = (
        "entries", "index_bits", "index_mask", "region_number", "region_shift", "unit_shift",
        "word_mask",
    )  # fmt: skip

    def __init__(self, params: ScordParams, region: Region) -> None:
        region.check(params)
        self.entries: dict[int, int] = {}
        entries = region.entries(params)
        self.index_mask = entries - 1
        self.index_bits = entries.bit_length() - 1
        self.region_shift = region.size_log2 - 2
        self.region_number = region.data_base >> region.size_log2
        self.word_mask = (1 << self.region_shift) - 1
        self.unit_shift = params.granularity_bits - 2

    def contains(self, word: int) -> bool:
        """Whether a word address is monitored."""
        return word >> self.region_shift == self.region_number

    def locate(self, word: int) -> tuple[int, int]:
        """Entry index and tag of a monitored word address (``Region.locate`` by masks)."""
        unit = (word & self.word_mask) >> self.unit_shift
        return unit & self.index_mask, unit >> self.index_bits

    def read(self, index: int) -> int:
        """Entry at ``index``."""
        return self.entries.get(index, UNINITIALISED_ENTRY)

    def clear(self) -> None:
        """Make every entry uninitialised, as at kernel launch."""
        self.entries.clear()
