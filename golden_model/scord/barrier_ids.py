"""Barrier ids and generations: wrapping counters for each block slot of an SM.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.scord.params import ScordParams


class SlotCounters:
    """One wrapping counter for each block slot.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    bits : int
        Width of a counter.

    Attributes
    ----------
    ids : list of int
        Counter by block slot.
    """

    __slots__ = ("_mask", "ids")

    def __init__(self, params: ScordParams, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self.ids = [0] * (1 << params.slot_bits)

    def increment(self, slot: int) -> None:
        """Count once for a slot."""
        self.ids[slot] = self.ids[slot] + 1 & self._mask

    def clear(self) -> None:
        """Set every counter to 0, as at kernel launch."""
        self.ids = [0] * len(self.ids)


class BarrierIds(SlotCounters):
    """Counts the barriers of each block slot.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    """

    __slots__ = ()

    def __init__(self, params: ScordParams) -> None:
        super().__init__(params, params.barrier_id_bits)


class Generations(SlotCounters):
    """Counts the blocks that have started in each block slot.

    Parameters
    ----------
    params : ScordParams
        Configuration; with ``slot_generation_bits`` 0 all counters stay 0.
    """

    __slots__ = ()

    def __init__(self, params: ScordParams) -> None:
        super().__init__(params, params.slot_generation_bits)
