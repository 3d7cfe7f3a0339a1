"""Decision stage: a packet and its entry against the decision tables, one a cycle.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.access_relation import AccessRelation, access_relation, identify
from racetrap.rtl.scord.detection_logic import DetectionLogic, fences_since
from racetrap.rtl.scord.fence_file import fence_counters
from racetrap.rtl.scord.hazard_window import slot_bits
from racetrap.rtl.scord.metadata_accessor import checked_packet, located_packet

__all__ = ["DecisionStage", "undecided_packet"]


def undecided_packet(params: ScordParams) -> data.StructLayout:
    """A packet with its entry.

    If it ``follows`` the packet just before it, that one's result is its entry instead;
    ``relation_if_taken`` is then its relation to that packet, which may have taken the entry over,
    and ``relation`` that to the entry as it was before both.
    """
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
        "follows": 1,
        "relation": access_relation(),
        "relation_if_taken": access_relation(),
    })  # fmt: skip


class DecisionStage(wiring.Component):
    """Decides on one packet a cycle, also back to back on one entry.  Latency is one cycle.

    The path from one decision to that on the next packet limits the clock.  What can be said of
    both outcomes of the one decision, whether it takes the entry over or not, has therefore been
    compared before the other begins.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_valid, i : ``In(1)``, ``In(undecided_packet(params))``
        Packets, in order.
    i_owner, i_own : ``In(fence_counters(params))``
        Fence counters now of the entry's owner (unless the packet follows the one before), and of
        the packet's warp, after its own fence.
    o_fence, o_scope : ``Out(1)``
        The packet is a fence, of this scope.
    o_entry : ``Out(entry_layout)``
        Entry of the packet at ``i``; combinational.
    o_checked : ``Out(checked_packet(params))``
        Entry left behind, for the accessor.
    o_last_counters : ``Out(fence_counters(params))``
        Fence counters of that entry's owner.
    o_valid, o_step : ``Out(1)``, ``Out(step_layout)``
        The step (and ``o_checked``) are valid; the step, as on the trace port.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        counters = fence_counters(params)
        super().__init__({
            "i_valid": In(1),
            "i": In(undecided_packet(params)),
            "i_owner": In(counters),
            "i_own": In(counters),
            "o_fence": Out(1),
            "o_scope": Out(1),
            "o_entry": Out(struct_layout(params.entry_layout)),
            "o_checked": Out(checked_packet(params)),
            "o_last_counters": Out(counters),
            "o_valid": Out(1),
            "o_step": Out(struct_layout(params.step_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.logic = logic = DetectionLogic(self._params)
        self._taken = Signal()
        self._relate(m, logic)
        self._count_fences(m, logic)
        is_uninitialised, tag_conflict = Signal(), Signal()
        same_granule = logic.i_relation.same_granule
        m.d.comb += [
            self.o_entry.eq(Mux(self.i.follows, self.o_checked.entry, self.i.entry)),
            is_uninitialised.eq(
                (self.o_entry.as_value() & UNINITIALISED_ENTRY) == UNINITIALISED_ENTRY
            ),
            tag_conflict.eq(~self.i.read_error & ~is_uninitialised & ~same_granule),
            logic.i_packet.eq(self.i.located.packet),
            logic.i_entry.eq(self.o_entry),
            logic.i_uninitialised.eq(self.i.read_error | is_uninitialised | ~same_granule),
            logic.i_tag.eq(self.i.located.tag),
            logic.i_own.eq(self.i_own),
        ]
        m.d.sync += self._taken.eq(logic.o_taken)
        self._step(m, logic, tag_conflict)
        return m

    def _relate(self, m, logic):
        """Who accessed last is known before the decision on that; which locks were left is not."""
        packet = self.i
        m.submodules.to_last = to_last = AccessRelation(self._params)
        last_entry = self.o_checked.entry
        m.d.comb += [
            identify(to_last.i, packet.located.packet, packet.located.tag),
            identify(to_last.i_last, last_entry, last_entry.tag),
            logic.i_relation.eq(
                Mux(packet.follows & self._taken, packet.relation_if_taken, packet.relation)
            ),
        ]
        with m.If(packet.follows):
            m.d.comb += [
                logic.i_relation.last_locked.eq(to_last.o.last_locked),
                logic.i_relation.common_lock.eq(to_last.o.common_lock),
            ]

    def _count_fences(self, m, logic):
        """Fences of the entry's owner since, and the owner's counters that the step shows.

        An owner that took over in the packet before has that packet's own counters, and has
        executed no fence since.
        """
        step, follows = self.o_step, self.i.follows
        self._owner = Signal.like(self.i_owner)
        last_fenced = Signal(fences_since())
        m.d.sync += last_fenced.eq(logic.i_fenced)
        m.d.comb += [
            self.o_fence.eq(self.i_valid & (self.i.located.packet.kind == PacketKind.FENCE)),
            self.o_scope.eq(self.i.located.packet.scope),
            self._owner.eq(Mux(follows, self.o_last_counters, self.i_owner)),
        ]
        for scope in ("blk", "dev"):
            own, owner = (getattr(step, f"{who}_{scope}_fence_id") for who in ("own", "owner"))
            executed = getattr(self.i.entry, f"{scope}_fence_id") != getattr(self.i_owner, scope)
            m.d.comb += [
                getattr(self.o_last_counters, scope).eq(Mux(self._taken, own, owner)),
                getattr(logic.i_fenced, scope).eq(
                    Mux(follows, getattr(last_fenced, scope) & ~self._taken, executed)
                ),
            ]

    def _step(self, m, logic, tag_conflict):
        """Register the step."""
        packet, step = self.i, self.o_step
        m.d.sync += [
            self.o_valid.eq(self.i_valid),
            self.o_checked.slot.eq(packet.slot),
            self.o_checked.index.eq(packet.located.index),
            step.eq(0),
            step.packet.eq(packet.located.packet),
        ]
        m.d.comb += [
            self.o_checked.entry.eq(step.after),
            # Compared behind the decision, whose path is long enough; 0 for a step without entry.
            self.o_checked.changed.eq(step.read_error | (step.after != step.before)),
        ]
        own_counters = [
            step.own_blk_fence_id.eq(self.i_own.blk),
            step.own_dev_fence_id.eq(self.i_own.dev),
        ]
        with m.If(packet.located.monitored):
            m.d.sync += [
                step.row.eq(logic.o_row),
                step.preliminary.eq(logic.o_preliminary),
                step.race.eq(logic.o_race),
                step.tag_conflict.eq(tag_conflict),
                step.read_error.eq(packet.read_error),
                step.owner_blk_fence_id.eq(self._owner.blk),
                step.owner_dev_fence_id.eq(self._owner.dev),
                *own_counters,
                step.before.eq(self.o_entry),
                step.after.eq(logic.o_after),
            ]
        with m.Elif(packet.located.packet.kind == PacketKind.FENCE):
            m.d.sync += [step.row.eq(TableRow.FENCE), *own_counters]
        with m.Else():
            m.d.sync += step.row.eq(TableRow.UNMONITORED)
