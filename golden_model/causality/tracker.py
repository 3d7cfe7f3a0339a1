"""Tracker: the part of the detector in each SM, from transactions to packets and markers.

It holds what entries keep of a warp: its clock, and what it has passed.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI (release counters).
"""

from __future__ import annotations

from racetrap.golden_model.causality.packets import (
    FenceOrder,
    Marker,
    Packet,
    Transaction,
)
from racetrap.golden_model.causality.params import CausalityParams


class WarpState:
    """What a tracker holds of a warp.

    Attributes
    ----------
    clock : int
        Clock of its next access.
    released, released_device : int
        Whether it has released since its block began, and to the device.
    sc : int
        Which ``fence.sc`` come before its accesses (``Fenced``).
    """

    __slots__ = ("clock", "released", "released_device", "sc")

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, clock: int) -> None:
        """Begin a block at a clock."""
        self.clock = clock
        self.released = self.released_device = 0
        self.sc = 0

    def release(self, device: int) -> None:
        """Release to the block, or to the device as well."""
        self.released = 1
        self.released_device |= device


class Tracker:
    """Warps of one SM.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    sm : int
        Number of the SM.

    Attributes
    ----------
    sm : int
        Number of the SM.
    warps : list of WarpState
        By warp slot.
    """

    def __init__(self, params: CausalityParams, sm: int) -> None:
        self._params, self.sm = params, sm
        self.clear()

    def clear(self) -> None:
        """No slot has had a block, as at kernel launch."""
        self.warps = [WarpState() for _ in range(self._params.warps_per_sm)]
        self._slots: dict[int, list[int]] = {}

    def begin_block(self, slot: int, warps: list[int]) -> int:
        """A block takes its slots; its first clock, behind all of its warp slots and of the block
        before it."""
        before = [*warps, *self._slots.get(slot, ())]
        start = 1 + max(self.warps[warp].clock for warp in before)
        for warp in warps:
            self.warps[warp].begin(start)
        self._slots[slot] = warps
        return start

    def packet(self, transaction: Transaction) -> Packet:
        """Packet of an access."""
        state = self.warps[transaction.warp]
        return Packet(
            transaction.kind,
            self._params.block_id(self.sm, transaction.slot),
            self._params.warp_id(self.sm, transaction.warp),
            *transaction[3:16],
            state.clock, state.released, state.released_device, state.sc,
        )  # fmt: skip

    def marker(self, transaction: Transaction) -> Marker:
        """Marker of all other kinds; the warp's clock is that before it."""
        return Marker(
            transaction.kind,
            self._params.block_id(self.sm, transaction.slot),
            self._params.warp_id(self.sm, transaction.warp),
            transaction.order, transaction.device, self.warps[transaction.warp].clock,
            transaction.number, transaction.warps,
        )  # fmt: skip

    def pass_fence(self, transaction: Transaction) -> None:
        """Note what a fence, or the begin of a release operation, makes of what follows."""
        if FenceOrder(transaction.order).releases:
            self.warps[transaction.warp].release(transaction.device)
