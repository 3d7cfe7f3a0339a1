"""Fence file: two wrapping counters for each warp slot of the GPU.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.params import ScordParams


class FenceFile:
    """Counts the block-scope and device-scope fences of every warp.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Attributes
    ----------
    slot : list of int
        Warp slot of the GPU (SM number above, warp slot in the SM below) for each owner number,
        which is ``block << warp_bits | warp`` as in an entry.
    blk, dev : list of int
        Counters by warp slot of the GPU: one pair for each warp slot, whichever block uses it.
    """

    __slots__ = ("_mask", "_size", "_warp_bits", "blk", "dev", "slot")

    def __init__(self, params: ScordParams) -> None:
        self._warp_bits = params.warp_bits
        warps = range(1 << params.warp_bits)
        # Of the SM's own first slot, since a model is made for each of many small runs.
        firsts = (
            params.sm_of_block(block) << params.warp_bits for block in range(1 << params.block_bits)
        )
        self.slot = [first | warp for first in firsts for warp in warps]
        self._size = 1 << params.sm_bits + params.warp_bits
        self._mask = (1 << params.fence_id_bits) - 1
        self.clear()

    def fence(self, block: int, warp: int, scope: int) -> None:
        """Count one fence of a warp."""
        counters = self.dev if scope == Scope.DEVICE else self.blk
        slot = self.slot[block << self._warp_bits | warp]
        counters[slot] = counters[slot] + 1 & self._mask

    def read(self, block: int, warp: int) -> tuple[int, int]:
        """Block-scope and device-scope counter of a warp."""
        slot = self.slot[block << self._warp_bits | warp]
        return self.blk[slot], self.dev[slot]

    def clear(self) -> None:
        """Set every counter to 0, as at kernel launch."""
        self.blk = [0] * self._size
        self.dev = [0] * self._size


def owner_conflicts(params: ScordParams, owners: Iterable[int]) -> int:
    """Owners of a segment's entries for which its port waits, since they cannot be read at once.

    The file of a port is divided into memories by the low bits of SM and warp, and each gives the
    counters of one owner a cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    owners : iterable of int
        Warp slots of the GPU that own the entries of the words accessed.
    """
    lane, part = (1 << params.fence_lane_bits) - 1, (1 << params.fence_part_bits) - 1
    memories = Counter((owner >> params.warp_bits & lane, owner & part) for owner in set(owners))
    return max(memories.values(), default=1) - 1
