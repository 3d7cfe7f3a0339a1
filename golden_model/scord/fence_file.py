"""Fence file: two wrapping counters for each warp slot of the GPU.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from racetrap.golden_model.scord.packets import Scope
from racetrap.golden_model.scord.params import ScordParams

__all__ = ["FenceFile"]


class FenceFile:
    """Counts the block-scope and device-scope fences of every warp.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Attributes
    ----------
    blk, dev : list of int
        Counters by owner number, which is ``block << warp_bits | warp`` as in an entry.
    """

    __slots__ = ("_mask", "_size", "_warp_bits", "blk", "dev")

    def __init__(self, params: ScordParams) -> None:
        self._warp_bits = params.warp_bits
        self._size = 1 << params.block_bits + params.warp_bits
        self._mask = (1 << params.fence_id_bits) - 1
        self.clear()

    def fence(self, block: int, warp: int, scope: int) -> None:
        """Count one fence of a warp."""
        counters = self.dev if scope == Scope.DEVICE else self.blk
        owner = block << self._warp_bits | warp
        counters[owner] = counters[owner] + 1 & self._mask

    def read(self, block: int, warp: int) -> tuple[int, int]:
        """Block-scope and device-scope counter of a warp."""
        owner = block << self._warp_bits | warp
        return self.blk[owner], self.dev[owner]

    def clear(self) -> None:
        """Set every counter to 0, as at kernel launch."""
        self.blk = [0] * self._size
        self.dev = [0] * self._size
