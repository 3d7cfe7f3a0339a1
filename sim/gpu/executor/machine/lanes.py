"""Sets of lanes, as 32-bit masks and as rows of 32 booleans.

Masks are what control flow works on and what traces hold; rows are what NumPy takes.  Both
directions are cached, since a kernel uses the same few sets again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from racetrap.golden_model.events import WARP_SIZE

#: Lanes that run an instruction, by the mask of members that each names: that mask, and the lanes.
Parts = Sequence[tuple[int, int]]

LANE_IDS = np.arange(WARP_SIZE)
LANE_IDS.flags.writeable = False

# Data-dependent branches can make any number of sets: the caches must not grow without limit.
_CACHED_SETS = 1 << 14


@lru_cache(_CACHED_SETS)
def _mask_of_bytes(row: bytes) -> int:
    return sum(1 << lane for lane, active in enumerate(row) if active)


def mask_of(row: np.ndarray) -> int:
    """Mask of the lanes whose boolean is set."""
    return _mask_of_bytes(row.tobytes())


@lru_cache(_CACHED_SETS)
def row_of(mask: int) -> np.ndarray:
    """Read-only row of booleans of a mask."""
    row = (mask >> LANE_IDS & 1).astype(bool)
    row.flags.writeable = False
    return row
