"""Fence file: two wrapping counters for each warp slot of the GPU, in one memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import Scope
from racetrap.golden_model.scord.params import ScordParams

__all__ = ["FenceFile", "fence_counters"]


def fence_counters(params: ScordParams) -> data.StructLayout:
    """Counters of one warp: block-scope and device-scope fences."""
    return data.StructLayout({"blk": params.fence_id_bits, "dev": params.fence_id_bits})


class FenceFile(wiring.Component):
    """Looks up two warps a cycle, and counts a fence of the second one.

    Addresses given in one cycle are answered in the next.  If ``i_fence`` is high in the cycle of
    the answer, the warp of ``i_own`` executed a fence: its counter is incremented, ``o_own`` is the
    value after that, and every later lookup sees it.  Throughput is one lookup pair or fence a
    cycle.  After ``i_clear`` all counters are set to 0, one warp slot a cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_owner_block, i_owner_warp : ``In(block_bits)``, ``In(warp_bits)``
        Warp that owns the metadata entry.
    i_own_block, i_own_warp : ``In(block_bits)``, ``In(warp_bits)``
        Warp that accesses or executes the fence.
    i_fence, i_scope : ``In(1)``
        In the cycle of the answer: it is a fence, and its scope.
    o_owner, o_own : ``Out(fence_counters(params))``
        Counters of the two warps.
    i_clear : ``In(1)``
        Pulse: reset all counters.
    o_busy : ``Out(1)``
        The reset is going on; lookups and fences are not allowed.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        counters = fence_counters(params)
        super().__init__({
            "i_owner_block": In(params.block_bits),
            "i_owner_warp": In(params.warp_bits),
            "i_own_block": In(params.block_bits),
            "i_own_warp": In(params.warp_bits),
            "i_fence": In(1),
            "i_scope": In(1),
            "o_owner": Out(counters),
            "o_own": Out(counters),
            "i_clear": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        params = self._params
        counters = fence_counters(params)
        m = Module()
        depth = params.sm_count << params.warp_bits
        m.submodules.memory = memory = Memory(shape=counters, depth=depth, init=[])
        owner_port, own_port = memory.read_port(), memory.read_port()
        write_port = memory.write_port()
        slot = data.StructLayout({"warp": params.warp_bits, "sm": params.sm_bits})
        owner, own = Signal(slot), Signal(slot)
        owner_slot, own_slot = Signal(slot), Signal(slot)
        m.d.comb += [
            # The block's slot in its SM does not matter: a warp slot belongs to one block.
            owner.warp.eq(self.i_owner_warp),
            owner.sm.eq(self.i_owner_block >> params.slot_bits),
            own.warp.eq(self.i_own_warp),
            own.sm.eq(self.i_own_block >> params.slot_bits),
            owner_port.addr.eq(owner),
            own_port.addr.eq(own),
        ]
        m.d.sync += [owner_slot.eq(owner), own_slot.eq(own)]

        # A lookup at the clock edge of a write reads the old value: forward the last write.
        written = Signal()
        written_slot, written_value = Signal(slot), Signal(counters)
        looked_up = Signal(counters)
        m.d.comb += [
            self.o_owner.eq(
                Mux(written & (written_slot == owner_slot), written_value, owner_port.data)
            ),
            looked_up.eq(Mux(written & (written_slot == own_slot), written_value, own_port.data)),
            self.o_own.blk.eq(looked_up.blk + (self.i_fence & (self.i_scope == Scope.BLOCK))),
            self.o_own.dev.eq(looked_up.dev + (self.i_fence & (self.i_scope == Scope.DEVICE))),
        ]
        m.d.sync += [
            written.eq(self.i_fence),
            written_slot.eq(own_slot),
            written_value.eq(self.o_own),
        ]

        clearing = Signal(unsigned(depth.bit_length()), init=depth)
        with m.If(self.i_clear):
            m.d.sync += clearing.eq(0)
        with m.Elif(self.o_busy):
            m.d.sync += clearing.eq(clearing + 1)
        m.d.comb += [
            self.o_busy.eq(clearing != depth),
            write_port.en.eq(self.i_fence | self.o_busy),
            write_port.addr.eq(Mux(self.o_busy, clearing, own_slot)),
            write_port.data.eq(Mux(self.o_busy, 0, self.o_own)),
        ]
        return m
