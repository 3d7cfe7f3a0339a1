"""Check pipeline: three stages from a packet with its entry to a step, with forwarding.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.metadata import FRESH_ENTRY
from racetrap.golden_model.scord.packets import PacketKind, Row
from racetrap.golden_model.scord.params import ENTRY_BITS, ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.fence_file import FenceFile
from racetrap.rtl.scord.hazard_window import slot_bits
from racetrap.rtl.scord.metadata_accessor import (
    checked_packet,
    located_packet,
    packet_with_entry,
)

__all__ = ["CheckPipeline"]


def _lookup(params: ScordParams) -> data.StructLayout:
    """A packet whose owner's counters are being looked up."""
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": ENTRY_BITS,
        "read_error": 1,
        # The entry is the result of the packet just before, which is not known yet.
        "follows": 1,
    })  # fmt: skip


class CheckPipeline(wiring.Component):
    """Checks one packet a cycle, also back to back on one entry; it never stalls.

    Stage 1 selects the entry and addresses the fence file, stage 2 decides, stage 3 holds the
    step.  A packet on the entry of the packet just before it takes that one's registered result
    in stage 2, and with it the owner's counters: that packet has read those of its own warp and
    those of the owner before, and the owner now is one of the two.  Latency is two cycles.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_valid, i : ``In(1)``, ``In(packet_with_entry(params))``
        Packets, in order.
    o_checked : ``Out(checked_packet(params))``
        Entry left behind, for the accessor.
    o_valid, o_step : ``Out(1)``, ``Out(step_layout)``
        The step (and ``o_checked``) are valid; the step, as on the trace port.
    i_clear : ``In(1)``
        Pulse: reset the fence file; nothing may be in the pipeline.
    o_busy : ``Out(1)``
        That is going on.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_valid": In(1),
            "i": In(packet_with_entry(params)),
            "o_checked": Out(checked_packet(params)),
            "o_valid": Out(1),
            "o_step": Out(struct_layout(params.step_layout)),
            "i_clear": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.fence_file = fence_file = FenceFile(self._params)
        m.submodules.logic = logic = DetectionLogic(self._params)
        m.d.comb += [fence_file.i_clear.eq(self.i_clear), self.o_busy.eq(fence_file.o_busy)]
        lookup, lookup_valid = self._stage_1(m, fence_file)
        self._stage_2(m, fence_file, logic, lookup, lookup_valid)
        return m

    def _stage_1(self, m, fence_file):
        """Select the entry: read, or result of a packet that has left stage 2, or later."""
        params, given, last = self._params, self.i, self.o_checked
        lookup, valid = Signal(_lookup(params)), Signal()
        entry = Signal(struct_layout(params.entry_layout))
        # The result memory misses what was written at the edge at which it was read.
        older = Signal(checked_packet(params))
        older_valid = Signal()
        m.d.sync += [older.eq(last), older_valid.eq(self.o_valid)]
        with m.If(~given.is_forwarded):
            m.d.comb += entry.eq(given.entry)
        with m.Elif(self.o_valid & (last.slot == given.source)):
            m.d.comb += entry.eq(last.entry)
        with m.Elif(older_valid & (older.slot == given.source)):
            m.d.comb += entry.eq(older.entry)
        with m.Else():
            m.d.comb += entry.eq(given.result)
        m.d.comb += [
            fence_file.i_owner_block.eq(entry.block),
            fence_file.i_owner_warp.eq(entry.warp),
            fence_file.i_own_block.eq(given.located.packet.block),
            fence_file.i_own_warp.eq(given.located.packet.warp),
        ]
        m.d.sync += [
            valid.eq(self.i_valid),
            lookup.located.eq(given.located),
            lookup.slot.eq(given.slot),
            lookup.entry.eq(entry),
            lookup.read_error.eq(given.read_error),
            lookup.follows.eq(given.is_forwarded & valid & (lookup.slot == given.source)),
        ]
        return lookup, valid

    def _stage_2(self, m, fence_file, logic, lookup, valid):
        """Decide; the step is registered, and its registers are stage 3."""
        params, step = self._params, self.o_step
        packet = lookup.located.packet
        is_fence = packet.kind == PacketKind.FENCE
        entry = Signal(struct_layout(params.entry_layout))
        is_fresh, is_other_unit, tag_conflict = Signal(), Signal(), Signal()
        owner = Signal.like(fence_file.o_owner)
        taken = Signal()
        # An owner that was taken over in the packet before has that packet's own counters.
        previous_owner = Signal.like(owner)
        m.d.comb += [
            previous_owner.blk.eq(Mux(taken, step.own_blk_fence_id, step.owner_blk_fence_id)),
            previous_owner.dev.eq(Mux(taken, step.own_dev_fence_id, step.owner_dev_fence_id)),
            entry.eq(Mux(lookup.follows, step.after, lookup.entry)),
            owner.eq(Mux(lookup.follows, previous_owner, fence_file.o_owner)),
            is_fresh.eq((entry.as_value() & FRESH_ENTRY) == FRESH_ENTRY),
            is_other_unit.eq(entry.tag != lookup.located.tag),
            tag_conflict.eq(~lookup.read_error & ~is_fresh & is_other_unit),
            fence_file.i_fence.eq(valid & is_fence),
            fence_file.i_scope.eq(packet.scope),
            logic.i_packet.eq(packet),
            logic.i_entry.eq(entry),
            logic.i_fresh.eq(lookup.read_error | is_fresh | is_other_unit),
            logic.i_tag.eq(lookup.located.tag),
            logic.i_owner.eq(owner),
            logic.i_own.eq(fence_file.o_own),
        ]
        m.d.sync += [
            self.o_valid.eq(valid),
            self.o_checked.slot.eq(lookup.slot),
            self.o_checked.index.eq(lookup.located.index),
            self.o_checked.changed.eq(
                lookup.located.monitored & (lookup.read_error | (logic.o_after != entry))
            ),
            taken.eq(logic.o_taken),
            step.eq(0),
            step.packet.eq(packet),
        ]
        m.d.comb += self.o_checked.entry.eq(step.after)
        with m.If(lookup.located.monitored):
            m.d.sync += [
                step.row.eq(logic.o_row),
                step.preliminary.eq(logic.o_preliminary),
                step.race.eq(logic.o_race),
                step.tag_conflict.eq(tag_conflict),
                step.read_error.eq(lookup.read_error),
                step.owner_blk_fence_id.eq(owner.blk),
                step.owner_dev_fence_id.eq(owner.dev),
                step.own_blk_fence_id.eq(fence_file.o_own.blk),
                step.own_dev_fence_id.eq(fence_file.o_own.dev),
                step.before.eq(entry),
                step.after.eq(logic.o_after),
            ]
        with m.Elif(is_fence):
            m.d.sync += [
                step.row.eq(Row.FENCE),
                step.own_blk_fence_id.eq(fence_file.o_own.blk),
                step.own_dev_fence_id.eq(fence_file.o_own.dev),
            ]
        with m.Else():
            m.d.sync += step.row.eq(Row.UNMONITORED)
