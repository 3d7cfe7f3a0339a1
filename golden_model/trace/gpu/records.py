"""Records of a binary trace of a GPU."""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import EventKind

__all__ = ["EVENT_DTYPE", "LANE_DTYPE", "USED_FIELDS"]

#: One event.  The lane records of an access are the ones from ``first_lane`` on, one for each
#: bit of ``lane_mask``; ``success_mask`` has a bit for each lane whose CAS succeeded.  In other
#: kinds ``lane_mask`` is the event's ``mask``, and there are no lane records.
EVENT_DTYPE = np.dtype([
    ("kind", "u1"),
    ("scope", "u1"),
    ("strong", "u1"),
    ("op", "u1"),
    ("size", "u1"),
    ("slot", "u1"),
    ("warp", "u1"),
    ("warp_count", "u1"),
    ("sm", "<u4"),
    ("pc", "<u4"),
    ("grid_block", "<u4"),
    ("lane_mask", "<u4"),
    ("success_mask", "<u4"),
    ("space", "<u4"),
    ("first_lane", "<u8"),
])  # fmt: skip

#: One active lane of an access.  The upper half of a 16-byte STORE is in ``compare``.
LANE_DTYPE = np.dtype([("address", "<u8"), ("value", "<u8"), ("compare", "<u8")])

_WARP = ("sm", "slot", "warp", "pc", "lane_mask")
_ACCESS = (*_WARP, "size", "strong", "scope", "space")

#: Fields of the event record that each kind uses; all others are 0.
USED_FIELDS: dict[EventKind, tuple[str, ...]] = {
    EventKind.LOAD: _ACCESS,
    EventKind.STORE: _ACCESS,
    EventKind.ATOMIC: (*_ACCESS, "op", "success_mask"),
    EventKind.FENCE: (*_WARP, "scope"),
    EventKind.BARRIER: ("sm", "slot", "pc"),
    EventKind.BLOCK_PLACED: ("sm", "slot", "warp", "warp_count", "grid_block", "lane_mask"),
    EventKind.BLOCK_RETIRED: ("sm", "slot"),
    EventKind.KERNEL_BEGIN: (),
    EventKind.KERNEL_END: (),
    EventKind.IF: _WARP,
    EventKind.ELSE: _WARP,
    EventKind.FI: _WARP,
    EventKind.EXIT: _WARP,
    EventKind.WARP_BARRIER: _WARP,
}
