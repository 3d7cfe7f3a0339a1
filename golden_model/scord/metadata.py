"""Metadata entries in packed form.

An entry is a plain integer in the order of ``ScordParams.entry_layout``.  Its low 22 bits
(lock filter and flags) stand at the same place in every configuration, so they are module
constants here; what lies above depends on the parameters and is in :class:`EntryShifts`.

Ref: ScoRD (ISCA'20) Section IV, Fig. 7, and Section IV-B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from racetrap.golden_model.scord.params import FILTER_BITS, ScordParams

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
    barrier, blk_fence, dev_fence, owner, tag, generation : int
        Bit position of each field.  ``owner`` is warp and block as one number.
    barrier_mask, fence_mask, owner_mask, tag_mask, generation_mask : int
        Mask of each field after shifting it down.
    """

    __slots__ = (
        "barrier", "barrier_mask", "blk_fence", "dev_fence", "fence_mask", "generation",
        "generation_mask", "owner", "owner_mask", "tag", "tag_mask", "warp_bits",
    )  # fmt: skip

    def __init__(self, params: ScordParams) -> None:
        layout = params.entry_layout
        self.barrier = layout.offset("barrier_id")
        self.blk_fence = layout.offset("blk_fence_id")
        self.dev_fence = layout.offset("dev_fence_id")
        self.owner = layout.offset("warp")
        self.tag = layout.offset("tag")
        self.generation = layout.offset("generation")
        self.warp_bits = params.warp_bits
        self.barrier_mask = (1 << params.barrier_id_bits) - 1
        self.fence_mask = (1 << params.fence_id_bits) - 1
        self.owner_mask = (1 << params.warp_bits + params.block_bits) - 1
        self.tag_mask = (1 << params.tag_bits) - 1
        self.generation_mask = (1 << params.slot_generation_bits) - 1


def pack_entry(params: ScordParams, **values: int) -> int:
    """Entry with the given fields; fields not given are 0."""
    layout = params.entry_layout
    return layout.pack(dict.fromkeys(layout.fields, 0) | values)


def unpack_entry(params: ScordParams, entry: int) -> Mapping[str, int]:
    """Fields of an entry by name."""
    return params.entry_layout.unpack(entry)
