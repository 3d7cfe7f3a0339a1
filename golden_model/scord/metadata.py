"""Metadata entries in packed form.

An entry is a plain integer in the order of ``ScordParams.entry_layout``.  Its low 22 bits (lock
filter and flags) have the same position in every configuration, so they are module constants here.

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
#: Entry of a location without an access: a combination that no access produces.
UNINITIALISED_ENTRY: Final = MODIFIED | BLK_SHARED | DEV_SHARED


def pack_entry(params: ScordParams, **values: int) -> int:
    """Entry with the given fields; fields not given are 0."""
    layout = params.entry_layout
    return layout.pack(dict.fromkeys(layout.fields, 0) | values)


def unpack_entry(params: ScordParams, entry: int) -> Mapping[str, int]:
    """Fields of an entry by name."""
    return params.entry_layout.unpack(entry)
