"""Fence hold: the warps of an SM with a fence in flight, and the transactions that must wait."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams


class FenceHold(wiring.Component):
    """Keeps each warp with a fence, and its block, until every bank has the fence.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_start : ``In(1)``
        The warp ``i_warp`` of block slot ``i_slot`` executes a fence.
    i_warp, i_slot : ``In(warp_bits)``, ``In(slot_bits)``
        Warp and block slot of the transaction at the input.
    i_fenced : ``In(warps_per_sm)``
        Pulse for each warp: every bank has its fence.
    o_fencing : ``Out(warps_per_sm)``
        Warps with a fence in flight, from the cycle after ``i_start`` to that of ``i_fenced``.
    o_warp_waits, o_block_waits : ``Out(1)``
        Whether ``i_warp``, or any warp of block slot ``i_slot``, has one; combinational.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_start": In(1),
            "i_warp": In(params.warp_bits),
            "i_slot": In(params.slot_bits),
            "i_fenced": In(params.warps_per_sm),
            "o_fencing": Out(params.warps_per_sm),
            "o_warp_waits": Out(1),
            "o_block_waits": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        warps = self._params.warps_per_sm
        fencing = Signal(warps)
        started, of_block = Signal(warps, name="started"), Signal(warps, name="of_block")
        m.d.comb += started.eq(self.i_start << self.i_warp)
        for warp in range(warps):
            slot = Signal(self._params.slot_bits, name=f"slot_{warp}")
            m.d.comb += of_block[warp].eq(slot == self.i_slot)
            with m.If(started[warp]):
                m.d.sync += slot.eq(self.i_slot)
        m.d.sync += fencing.eq((fencing & ~self.i_fenced) | started)
        m.d.comb += [
            self.o_fencing.eq(fencing),
            self.o_warp_waits.eq(fencing.bit_select(self.i_warp, 1)),
            self.o_block_waits.eq((fencing & of_block).any()),
        ]
        return m
