"""Barrier ids: one wrapping counter for each block slot of an SM.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["BarrierIds"]


class BarrierIds:
    """Counts the barriers of each block slot.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Attributes
    ----------
    ids : list of int
        Counter by block slot.
    """

    __slots__ = ("_mask", "ids")

    def __init__(self, params: ScordParams) -> None:
        self._mask = (1 << params.barrier_id_bits) - 1
        self.ids = [0] * (1 << params.slot_bits)

    def barrier(self, slot: int) -> None:
        """Count one barrier of a block."""
        self.ids[slot] = self.ids[slot] + 1 & self._mask

    def clear(self) -> None:
        """Set every counter to 0, as at kernel launch."""
        self.ids = [0] * len(self.ids)
