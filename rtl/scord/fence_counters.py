"""Fence counters: two wrapping counters for each warp slot of a fence lane, in one memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.memory import block_memory


def fence_counters(params: ScordParams) -> data.StructLayout:
    """Counters of one warp: block-scope and device-scope fences."""
    return data.StructLayout({"blk": params.fence_id_bits, "dev": params.fence_id_bits})


def lane_slot(params: ScordParams) -> data.StructLayout:
    """Index of a warp's counters; the block slot is not needed, since a warp slot belongs to
    one."""
    sm_bits = params.sm_bits - params.fence_lane_bits
    return data.StructLayout({"warp": params.warp_bits, "sm": sm_bits})


class FenceCounters(wiring.Component):
    """Looks up two warps a cycle, and counts a fence of the second one.

    Warps given in one cycle are answered two cycles later, from registers, since block RAM is slow
    to answer.  The owner may be replaced in the cycle between, together with its counters as they
    were before the last two answers.  If ``i_fence`` is high in the cycle of
    the answer, the warp of ``i_own`` executed a fence: its counter is incremented, ``o_own`` is the
    value after that, and every later lookup sees it.  Throughput is one lookup pair or fence a
    cycle.  After ``i_clear`` all counters are set to 0, one warp slot a cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_owner, i_own : ``In(lane_slot(params))``
        Warp that owns the metadata entry, and warp that accesses or executes the fence.
    i_late, i_late_owner, i_late_counters : ``In(1)``, ``In(lane_slot)``, ``In(fence_counters)``
        In the cycle after: the owner is this one instead, and its counters are these but for a
        fence in this cycle.
    i_fence, i_scope : ``In(1)``
        In the cycle of the answer: it is a fence, and its scope.
    o_owner, o_own : ``Out(fence_counters(params))``
        Counters of the two warps.
    i_clear : ``In(1)``
        Pulse: reset all counters.
    o_busy : ``Out(1)``
        The reset is in progress; lookups and fences are not allowed.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        counters = fence_counters(params)
        super().__init__({
            "i_owner": In(lane_slot(params)),
            "i_own": In(lane_slot(params)),
            "i_late": In(1),
            "i_late_owner": In(lane_slot(params)),
            "i_late_counters": In(counters),
            "i_fence": In(1),
            "i_scope": In(1),
            "o_owner": Out(counters),
            "o_own": Out(counters),
            "i_clear": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        params = self._params
        m = Module()
        sms = -(-params.sm_count // params.fence_lanes)
        depth = sms << params.warp_bits
        # A value read at the clock edge of a write of the same warp is never used.
        m.submodules.memory = memory = block_memory(fence_counters(params), depth)
        owner_port = memory.read_port()
        own_port = memory.read_port()
        m.d.comb += [owner_port.addr.eq(self.i_owner), own_port.addr.eq(self.i_own)]
        slot = self._elaborate_lookup(m, owner_port, own_port)
        self._elaborate_writes(m, memory.write_port(), slot, depth)
        return m

    def _elaborate_lookup(self, m, owner_port, own_port):
        """Register the memory's answer, or a newer value; returns the accessing warp."""
        params = self._params
        slot, counters = lane_slot(params), fence_counters(params)
        owner, own, answered = (Signal(slot, name=name) for name in ("owner", "own", "answered"))
        # A lookup at the clock edge of a write reads the old value: forward the last write.
        written, written_slot = Signal(name="written"), Signal(slot, name="written_slot")
        written_value, looked_up = (
            Signal(counters, name=name) for name in ("written_value", "looked_up")
        )
        m.d.comb += [
            self.o_own.blk.eq(looked_up.blk + (self.i_fence & (self.i_scope == Scope.BLOCK))),
            self.o_own.dev.eq(looked_up.dev + (self.i_fence & (self.i_scope == Scope.DEVICE))),
        ]
        m.d.sync += [
            owner.eq(self.i_owner),
            own.eq(self.i_own),
            answered.eq(own),
            written.eq(self.i_fence),
            written_slot.eq(answered),
            written_value.eq(self.o_own),
        ]
        own_now, own_before = self.i_fence & (answered == own), written & (written_slot == own)
        # Both owners are compared before one is chosen, and everything before the memory answers.
        owner_now = self.i_fence & Mux(
            self.i_late, answered == self.i_late_owner, answered == owner
        )
        owner_before = written & (written_slot == owner)
        newer_owner, newer_own = (
            Signal(counters, name=name) for name in ("newer_owner", "newer_own")
        )
        m.d.comb += [
            newer_own.eq(Mux(own_now, self.o_own, written_value)),
            newer_owner.eq(
                Mux(owner_now, self.o_own, Mux(self.i_late, self.i_late_counters, written_value))
            ),
        ]
        m.d.sync += [
            looked_up.eq(Mux(own_now | own_before, newer_own, own_port.data)),
            self.o_owner.eq(
                Mux(owner_now | self.i_late | owner_before, newer_owner, owner_port.data)
            ),
        ]
        return answered

    def _elaborate_writes(self, m, port, slot, depth):
        """Fences, and the reset."""
        clearing = Signal(unsigned(depth.bit_length()), init=depth)
        with m.If(self.i_clear):
            m.d.sync += clearing.eq(0)
        with m.Elif(self.o_busy):
            m.d.sync += clearing.eq(clearing + 1)
        m.d.comb += [
            self.o_busy.eq(clearing != depth),
            port.en.eq(self.i_fence | self.o_busy),
            port.addr.eq(Mux(self.o_busy, clearing, slot)),
            port.data.eq(Mux(self.o_busy, 0, self.o_own)),
        ]
