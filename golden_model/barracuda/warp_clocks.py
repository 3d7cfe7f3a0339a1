"""Clocks of a kernel's warps, and the barriers that join them.

Ref: BARRACUDA (PLDI'17) Section 3.3, rule BAR.
"""

from __future__ import annotations

from racetrap.golden_model.barracuda.compressed import Clock, Place, join_all
from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.race import BarrierDivergence
from racetrap.golden_model.barracuda.simt import Warp


class WarpClocks:
    """The warps of a kernel with their clocks.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    uses : int
        Times of each warp in a ``Knowledge``: the first for causality, others for their users.

    Attributes
    ----------
    warps : list of Warp
        All warps, by number.
    divergences : dict of int to BarrierDivergence
        Divergent barriers, by program counter.
    """

    def __init__(self, kernel: Kernel, uses: int = 1) -> None:
        self.kernel = kernel
        self.warps = [
            Warp(Place.of(kernel, warp, uses), int(live)) for warp, live in enumerate(kernel.live)
        ]
        self.divergences: dict[int, BarrierDivergence] = {}

    def barrier(self, row: int) -> range:
        """Pass a barrier with the warps of a block; return their numbers."""
        numbers = self.kernel.warps_of(int(self.kernel.block[row]))
        warps = self.warps[numbers.start : numbers.stop]
        for warp in warps:
            if warp.absent:
                self._diverge(row, warp)
        far = join_all(far for warp in warps for far in warp.far)
        whole = Clock(block_time=row, far=far.outside(warps[0].place))
        for warp in warps:
            warp.pass_barrier(whole)
        return numbers

    def _diverge(self, row: int, warp: Warp) -> None:
        """Record that lanes of a warp are absent from a barrier."""
        kernel = self.kernel
        lane = (warp.absent & -warp.absent).bit_length() - 1
        pc = int(kernel.events["pc"][row])
        divergence = BarrierDivergence(
            int(kernel.grid_block[warp.place.block]), pc,
            kernel.thread(warp.place.warp, lane), kernel.number,
        )  # fmt: skip
        self.divergences.setdefault(pc, divergence)
