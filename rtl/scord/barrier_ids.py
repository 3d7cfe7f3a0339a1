"""Barrier ids: one wrapping counter for each block slot of an SM.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["BarrierIds"]


class BarrierIds(wiring.Component):
    """Counts the barriers of each block slot.

    ``o_barrier_id`` is combinational in ``i_slot``; an increment shows in the next cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_slot : ``In(slot_bits)``
        Block slot that is read and incremented.
    i_increment : ``In(1)``
        The block has passed a barrier.
    i_clear : ``In(1)``
        Set every counter to 0.
    o_barrier_id : ``Out(barrier_id_bits)``
        Counter of the block.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_slot": In(params.slot_bits),
            "i_increment": In(1),
            "i_clear": In(1),
            "o_barrier_id": Out(params.barrier_id_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        ids = Array(
            Signal(self._params.barrier_id_bits, name=f"barrier_id_{slot}")
            for slot in range(self._params.blocks_per_sm)
        )
        m.d.comb += self.o_barrier_id.eq(ids[self.i_slot])
        with m.If(self.i_increment):
            m.d.sync += ids[self.i_slot].eq(self.o_barrier_id + 1)
        with m.If(self.i_clear):
            m.d.sync += [barrier_id.eq(0) for barrier_id in ids]
        return m
