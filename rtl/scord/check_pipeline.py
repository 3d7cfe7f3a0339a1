"""Check pipeline: four stages from a packet with its entry to a step, with forwarding.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from contextlib import nullcontext

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import (
    checked_packet,
    located_packet,
    packet_with_entry,
)
from racetrap.rtl.gpu.warp_slot import warp_index, warp_slot
from racetrap.rtl.scord.access_relation import AccessComparator, identify
from racetrap.rtl.scord.decision_stage import DecisionStage
from racetrap.rtl.scord.fence_bundle import fences_of
from racetrap.rtl.scord.fence_file import FenceFile
from racetrap.rtl.scord.shared_fence_file import bank_lookup


def _lookup(params: ScordParams) -> data.StructLayout:
    """A packet whose warps' counters are being looked up."""
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
        "is_forwarded": 1,
        "source": slot_bits(params),
    })  # fmt: skip


class CheckPipeline(wiring.Component):
    """Checks one packet a cycle, also back to back on one entry.

    It never stalls, unless banks share a fence file, for which a packet may wait in stage 2.

    Stage 1 selects the entry and addresses the fence file, stage 2 waits for its answer, stage 3
    decides, stage 4 holds the step.  A packet takes the registered result of the packet before it
    in stage 3, of the one before that in stage 2, and with it the owner's counters: that packet has
    read those of its own warp and of the previous owner, and the new owner is one of the two.
    Latency is three cycles.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets, in order.
    o_step : ``Out(stream.Signature(step_layout, always_ready=True))``
        Steps, as on the trace port.
    o_fences : ``Out(stream.Signature(step_layout, always_ready=True)).array(fence_lanes - 1)``
        Steps of the fences of one cycle beside ``o_step``.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        For each packet, present or not: the entry after it, for the accessor.
    i_clear : ``In(1)``
        Pulse: reset the fence file; nothing may be in the pipeline.
    o_busy : ``Out(1)``
        High while the fence file is being reset.
    lookup : ``In(bank_lookup(params))``
        The shared fence file, if banks share one.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "o_step": Out(stream.Signature(struct_layout(params.step_layout), always_ready=True)),
            "o_fences": Out(
                stream.Signature(struct_layout(params.step_layout), always_ready=True)
            ).array(params.fence_lanes - 1),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
            "i_clear": In(1),
            "o_busy": Out(1),
            **({"lookup": In(bank_lookup(params))} if params.shares_owners else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        if params.shares_owners:
            fence_file = self.lookup
        else:
            m.submodules.fence_file = fence_file = FenceFile(params)
        m.submodules.decision = decision = DecisionStage(params)
        lookup, lookup_valid = self._elaborate_entry(m, fence_file)
        self._elaborate_request(m, fence_file, decision, lookup, lookup_valid)
        wiring.connect(m, decision.o_step, wiring.flipped(self.o_step))
        wiring.connect(m, decision.o_checked, wiring.flipped(self.o_checked))
        for fence, step in zip(decision.o_fences, self.o_fences, strict=True):
            wiring.connect(m, fence, wiring.flipped(step))
        m.d.comb += [
            fence_file.i_clear.eq(self.i_clear),
            self.o_busy.eq(fence_file.o_busy),
            decision.i_owner.eq(fence_file.o_owner),
            decision.i_own.eq(fence_file.o_own),
            fence_file.i_fence.eq(decision.o_fence),
            fence_file.i_scope.eq(decision.o_scope),
        ]
        for given, counters in zip(decision.i_fenced, fence_file.o_fenced, strict=True):
            m.d.comb += given.eq(counters)
        return m

    def _elaborate_entry(self, m, fence_file):
        """Stage 1: the entry is the one read, or the result of a packet that has left stage 3."""
        params, given, last = self._params, self.i.p, self.o_checked.p
        lookup = Signal(_lookup(params), name="lookup", reset_less=True)
        valid = Signal(name="lookup_valid")
        entry = Signal.like(given.entry, name="entry")
        owner = Signal(warp_slot(params))
        read_error = Signal()
        # The result memory does not forward a write at the clock edge of the read.
        older = Signal(checked_packet(params), name="older", reset_less=True)
        older_valid = Signal(name="older_valid")
        with m.If(~given.is_forwarded):
            m.d.comb += [
                entry.eq(given.entry),
                read_error.eq(given.read_error),
                owner.eq(given.entry_owner),
            ]
        with m.Elif(self.o_checked.valid & (last.slot == given.source)):
            m.d.comb += [
                entry.eq(last.entry),
                read_error.eq(last.lost),
                warp_index(params, owner, last.entry),
            ]
        with m.Elif(older_valid & (older.slot == given.source)):
            m.d.comb += [
                entry.eq(older.entry),
                read_error.eq(older.lost),
                warp_index(params, owner, older.entry),
            ]
        with m.Else():
            m.d.comb += [
                entry.eq(given.result),
                read_error.eq(given.result_lost),
                owner.eq(given.result_owner),
            ]
        m.d.comb += [
            fence_file.i_owner.eq(owner),
        ]
        packet = given.located.packet
        for own, fence in zip(fence_file.i_own, fences_of(params, packet), strict=True):
            m.d.comb += warp_index(params, own, packet)
            if fence is not packet:
                with m.If(packet.kind == PacketKind.FENCE):
                    m.d.comb += warp_index(params, own, fence)
        m.d.sync += [older.eq(last), older_valid.eq(self.o_checked.valid)]
        proceeds = nullcontext()
        if params.shares_owners:
            m.d.comb += fence_file.i_asks.eq(given.is_access)
            proceeds = m.If(~fence_file.o_wait)
        with proceeds:
            m.d.sync += [
                valid.eq(self.i.valid),
                lookup.located.eq(given.located),
                lookup.slot.eq(given.slot),
                lookup.entry.eq(entry),
                lookup.read_error.eq(read_error),
                lookup.is_forwarded.eq(given.is_forwarded),
                lookup.source.eq(given.source),
            ]
        return lookup, valid

    def _elaborate_request(self, m, fence_file, decision, lookup, lookup_valid):
        """Stage 2: the fence file answers; the last packet's result may come in between.

        The packet before is in the decision stage meanwhile.  If this one follows it, the entry's
        last access will be that packet, or remain that packet's entry's.
        """
        last, ahead = self.o_checked.p, decision.i.p
        entry = Signal.like(lookup.entry)
        is_late, follows = (Signal(name=name) for name in ("is_late", "follows"))
        m.d.comb += [
            is_late.eq(lookup.is_forwarded & self.o_checked.valid & (last.slot == lookup.source)),
            follows.eq(lookup.is_forwarded & decision.i.valid & (ahead.slot == lookup.source)),
            entry.eq(Mux(is_late, last.entry, lookup.entry)),
            fence_file.i_late.eq(is_late),
            warp_index(self._params, fence_file.i_late_owner, last.entry),
            fence_file.i_late_counters.eq(decision.o_last_counters),
        ]
        goes = lookup_valid
        if self._params.shares_owners:
            located = lookup.located
            goes &= ~fence_file.o_wait
            m.d.comb += [
                fence_file.i_needs.eq(lookup_valid & located.is_present & located.monitored),
                fence_file.i_follows.eq(follows),
            ]
            with m.If(fence_file.o_wait & is_late):
                m.d.sync += [lookup.entry.eq(last.entry), lookup.read_error.eq(last.lost)]
        relations = {}
        for name, last_access, tag in (
            ("to_entry", entry, entry.tag),
            ("to_entry_ahead", decision.o_entry, decision.o_entry.tag),
            ("to_packet_ahead", ahead.located.packet, ahead.located.tag),
        ):
            m.submodules[name] = relation = AccessComparator(self._params)
            m.d.comb += [
                identify(relation.i, lookup.located.packet, lookup.located.tag),
                identify(relation.i_last, last_access, tag),
            ]
            relations[name] = relation.o
        valid = Signal(name="request_valid")
        request = Signal(ahead.shape(), name="request", reset_less=True)
        m.d.sync += [
            valid.eq(goes),
            request.located.eq(lookup.located),
            request.slot.eq(lookup.slot),
            request.entry.eq(entry),
            request.read_error.eq(Mux(is_late, last.lost, lookup.read_error)),
            request.follows.eq(follows),
            request.relation.eq(Mux(follows, relations["to_entry_ahead"], relations["to_entry"])),
            request.relation_if_replaced.eq(relations["to_packet_ahead"]),
        ]
        m.d.comb += [decision.i.valid.eq(valid), ahead.eq(request)]
