"""Decision stage: a packet and its entry against the decision tables, one a cycle.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import checked_packet, is_present, located_packet
from racetrap.rtl.scord.access_relation import AccessComparator, AccessRelation, identify
from racetrap.rtl.scord.detection_logic import DetectionLogic, FenceStatus
from racetrap.rtl.scord.fence_bundle import fence_presence, fences_of, unused_by_fence
from racetrap.rtl.scord.fence_counters import fence_counters


def decision_request(params: ScordParams) -> data.StructLayout:
    """A packet with its entry.

    If it ``follows`` the packet just before it, its entry is that packet's result instead;
    ``relation_if_replaced`` is then its relation to that packet, which may have replaced the
    entry's owner, and ``relation`` that to the entry before both.
    """
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
        "follows": 1,
        "relation": AccessRelation,
        "relation_if_replaced": AccessRelation,
    })  # fmt: skip


class DecisionStage(wiring.Component):
    """Decides on one packet a cycle, also back to back on one entry.  Latency is one cycle.

    The path from one decision to the next limits the clock.  Both outcomes of a decision (it
    replaces the entry's owner, or not) are therefore compared before the next decision begins.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(decision_request(params), always_ready=True))``
        Packets, in order.
    i_owner, i_own : ``In(fence_counters(params))``
        Current fence counters of the entry's owner (unless the packet follows the one before), and
        of the packet's warp, after its own fence.
    i_fenced : ``In(fence_counters(params)).array(fence_lanes)``
        Counters of each lane's warp after its fence, if the packet has fences.
    o_fence, o_scope : ``Out(fence_lanes)``
        The packet has a fence of this lane, of this scope.
    o_entry : ``Out(entry_layout)``
        Entry of the packet at ``i``; combinational.
    o_step : ``Out(stream.Signature(step_layout, always_ready=True))``
        Steps, as on the trace port.
    o_fences : ``Out(stream.Signature(step_layout, always_ready=True)).array(fence_lanes - 1)``
        Steps of the fences in the same packet as that at ``o_step``, if that lane has one at all.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        For each step, and each packet that is not present: the entry after it, for the accessor.
    o_last_counters : ``Out(fence_counters(params))``
        Fence counters of that entry's owner.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        counters = fence_counters(params)
        super().__init__({
            "i": In(stream.Signature(decision_request(params), always_ready=True)),
            "i_owner": In(counters),
            "i_own": In(counters),
            "i_fenced": In(counters).array(params.fence_lanes),
            "o_fence": Out(params.fence_lanes),
            "o_scope": Out(params.fence_lanes),
            "o_entry": Out(struct_layout(params.entry_layout)),
            "o_step": Out(stream.Signature(struct_layout(params.step_layout), always_ready=True)),
            "o_fences": Out(
                stream.Signature(struct_layout(params.step_layout), always_ready=True)
            ).array(params.fence_lanes - 1),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
            "o_last_counters": Out(counters),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.logic = logic = DetectionLogic(self._params)
        self._owner_replaced = Signal(name="owner_replaced")
        self._read_error = Signal(name="read_error")
        self._is_present = is_present(self._params, self.i.p.located)
        self._elaborate_relation(m, logic)
        self._elaborate_fence_status(m, logic)
        request = self.i.p
        is_uninitialised, tag_conflict = (
            Signal(name=name) for name in ("is_uninitialised", "tag_conflict")
        )
        same_granule = logic.i_relation.same_granule
        m.d.comb += [
            self.o_entry.eq(Mux(request.follows, self.o_checked.p.entry, request.entry)),
            self._read_error.eq(
                Mux(request.follows, self.o_checked.p.lost.any(), request.read_error)
            ),
            is_uninitialised.eq(
                (self.o_entry.as_value() & UNINITIALISED_ENTRY) == UNINITIALISED_ENTRY
            ),
            tag_conflict.eq(~self._read_error & ~is_uninitialised & ~same_granule),
            logic.i_packet.eq(request.located.packet),
            logic.i_entry.eq(self.o_entry),
            logic.i_uninitialised.eq(self._read_error | is_uninitialised | ~same_granule),
            logic.i_tag.eq(request.located.tag),
            logic.i_own.eq(self.i_own),
        ]
        m.d.sync += self._owner_replaced.eq(logic.o_owner_replaced & self._is_present)
        self._elaborate_step(m, logic, tag_conflict)
        self._elaborate_fences(m)
        return m

    def _elaborate_relation(self, m, logic):
        """The last accessor is known before the decision on it; the locks in its entry are not."""
        request = self.i.p
        m.submodules.to_last = to_last = AccessComparator(self._params)
        last_entry = self.o_checked.p.entry
        m.d.comb += [
            identify(to_last.i, request.located.packet, request.located.tag),
            identify(to_last.i_last, last_entry, last_entry.tag),
            logic.i_relation.eq(
                Mux(
                    request.follows & self._owner_replaced,
                    request.relation_if_replaced,
                    request.relation,
                )
            ),
        ]
        with m.If(request.follows):
            m.d.comb += [
                logic.i_relation.last_locked.eq(to_last.o.last_locked),
                logic.i_relation.common_lock.eq(to_last.o.common_lock),
            ]

    def _elaborate_fence_status(self, m, logic):
        """Fences of the entry's owner since its access, and the owner's counters in the step.

        If the packet before became the owner, its own counters apply, and no fence has followed.
        """
        step, packet, follows = self.o_step.p, self.i.p.located.packet, self.i.p.follows
        self._owner = Signal.like(self.i_owner)
        last_fenced = Signal(FenceStatus)
        m.d.sync += last_fenced.eq(logic.i_fenced)
        m.d.comb += [
            self.o_fence.eq(
                Cat(fence_presence(self._params, packet))
                & (self.i.valid & (packet.kind == PacketKind.FENCE)).replicate(len(self.o_fence))
            ),
            self.o_scope.eq(Cat(fence.scope for fence in fences_of(self._params, packet))),
            self._owner.eq(Mux(follows, self.o_last_counters, self.i_owner)),
        ]
        for scope in ("blk", "dev"):
            own, owner = (step[f"{who}_{scope}_fence_id"] for who in ("own", "owner"))
            executed = self.i.p.entry[f"{scope}_fence_id"] != self.i_owner[scope]
            m.d.comb += [
                self.o_last_counters[scope].eq(Mux(self._owner_replaced, own, owner)),
                logic.i_fenced[scope].eq(
                    Mux(follows, last_fenced[scope] & ~self._owner_replaced, executed)
                ),
            ]

    def _elaborate_step(self, m, logic, tag_conflict):
        """Register the step."""
        request, checked = self.i.p, self.o_checked.p
        step = Signal(self.o_step.p.shape(), name="step", reset_less=True)
        is_fence = request.located.packet.kind == PacketKind.FENCE
        has_first = fence_presence(self._params, request.located.packet)[0]
        m.d.sync += [
            self.o_step.valid.eq(self.i.valid & self._is_present & (~is_fence | has_first)),
            self.o_checked.valid.eq(self.i.valid),
            checked.slot.eq(request.slot),
            checked.index.eq(request.located.index),
            checked.lost.eq(self._read_error & ~self._is_present),
            step.eq(0),
            step.packet.eq(request.located.packet),
        ]
        m.d.comb += [
            self.o_step.p.eq(step),
            checked.entry.eq(step.after),
            # Compared after the decision, whose path is long already; 0 for a step without entry.
            checked.changed.eq(
                (step.read_error & ~checked.lost.any()) | (step.after != step.before)
            ),
        ]
        own_counters = [
            step.own_blk_fence_id.eq(self.i_own.blk),
            step.own_dev_fence_id.eq(self.i_own.dev),
        ]
        with m.If(request.located.monitored):
            m.d.sync += [
                step.row.eq(logic.o_row),
                step.preliminary.eq(logic.o_preliminary),
                step.race.eq(logic.o_race),
                step.tag_conflict.eq(tag_conflict),
                step.read_error.eq(self._read_error),
                step.owner_blk_fence_id.eq(self._owner.blk),
                step.owner_dev_fence_id.eq(self._owner.dev),
                *own_counters,
                step.before.eq(self.o_entry),
                step.after.eq(Mux(self._is_present, logic.o_after, self.o_entry)),
            ]
        with m.Elif(is_fence):
            m.d.sync += [step.row.eq(TableRow.FENCE), *own_counters]
            if self._params.fence_lanes > 1:
                m.d.sync += unused_by_fence(step.packet).eq(0)
        with m.Else():
            m.d.sync += step.row.eq(TableRow.UNMONITORED)

    def _elaborate_fences(self, m):
        """Register the steps of the fences of all lanes but the first."""
        fences = fences_of(self._params, self.i.p.located.packet)[1:]
        for lane, (fence, port) in enumerate(zip(fences, self.o_fences, strict=True), start=1):
            step, counters = port.p, self.i_fenced[lane]
            m.d.sync += [
                port.valid.eq(self.o_fence[lane]),
                step.packet.scope.eq(fence.scope),
                step.packet.block.eq(fence.block),
                step.packet.warp.eq(fence.warp),
                step.own_blk_fence_id.eq(counters.blk),
                step.own_dev_fence_id.eq(counters.dev),
            ]
            m.d.comb += [step.packet.kind.eq(PacketKind.FENCE), step.row.eq(TableRow.FENCE)]
