"""Tracker: the part of the detector in each SM, from transactions to packets and markers.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI (release counters).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import (
    HELD,
    FenceOrder,
    PacketKind,
    ResumeKind,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.warp_states import BlockStart, WarpStates
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister


class Tracker(wiring.Component):
    """Warps of one SM: accesses become packets, and what orders them packets and markers.

    A transaction's packet is valid two cycles after the transaction was taken; then comes one each
    cycle, as long as they are accesses or of branches and warp barriers.  IF and WARP_BARRIER
    advance their warp's clock: their marker has the clock before, their packet that behind.  All
    other kinds are a MARK packet and a marker at the same time, and the tracker sends nothing more
    until the collector's last resume.  Those of a block's start and end change no warp: at a start
    the tracker finds the first clock, which the marker has, and begins the block's warps itself.

    Before a clock could wrap, a transaction that is no access waits for an epoch: while any warp of
    this SM, or by what the collector has told of another, has reached the last clock.  The tracker
    asks for it by a HELD marker, with a MARK packet; told to hold, it sends them as well, and
    accesses wait, too.  A marker that waits for its resume stands for them.  When the collector
    begins the epoch, all clocks become 1, and what waits goes on.  No ``ready`` depends
    combinationally on a ``valid``.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_sm : ``In(sm_bits)``
        Number of the SM, a constant.
    i_transaction : ``In(stream.Signature(transaction_layout))``
        What the SM does.
    o_packet : ``Out(stream.Signature(segment_layout))``
        Packets for the interleaver.
    o_marker : ``Out(stream.Signature(marker_layout))``
        Markers for the collector.
    i_resume : ``In(stream.Signature(resume_layout))``
        State of a warp behind the marker; the last one lets the SM go on.  Or news of an epoch.
    i_enable : ``In(1)``
        Low: transactions are taken and ignored.
    i_clear : ``In(1)``
        Pulse, while the tracker is idle: forget all warps and blocks.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on.
    o_idle : ``Out(1)``
        Everything accepted is complete.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i_sm": In(params.sm_bits),
            "i_transaction": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o_packet": Out(stream.Signature(struct_layout(params.segment_layout))),
            "o_marker": Out(stream.Signature(struct_layout(params.marker_layout))),
            "i_resume": In(stream.Signature(struct_layout(params.resume_layout))),
            "i_enable": In(1),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, kinds = self._params, TransactionKind
        m.submodules.packet = packet = StreamRegister(self.o_packet.payload.shape())
        m.submodules.marker = marker = StreamRegister(self.o_marker.payload.shape())
        m.submodules.warps = warps = WarpStates(params)
        m.submodules.start = start = BlockStart(params)
        wiring.connect(m, packet.o, wiring.flipped(self.o_packet))
        wiring.connect(m, marker.o, wiring.flipped(self.o_marker))
        transaction = Signal(self.i_transaction.payload.shape(), reset_less=True)
        kind = transaction.kind
        holds, waits, leaves, is_access, is_start, is_told, is_answered = (
            Signal(name=name) for name in (
                "holds", "waits", "leaves", "is_access", "is_start", "is_told", "is_answered",
            )
        )  # fmt: skip
        asks, is_held, may_send, may_search = (
            Signal(name=name) for name in ("asks", "is_held", "may_send", "may_search")
        )
        must_hold, epoch = self._elaborate_epoch(m, holds & ~is_access, is_held, warps)
        m.d.comb += [
            is_access.eq(kind <= kinds.ATOMIC),
            is_start.eq(kind == kinds.BLOCK_START),
            is_answered.eq(~is_access & (kind < kinds.IF)),
            is_told.eq(is_answered | (kind == kinds.IF) | (kind == kinds.WARP_BARRIER)),
            may_send.eq(packet.i.ready & ~waits & ~is_held & ~warps.o_busy),
            # A marker and its packet leave together.
            asks.eq(must_hold & may_send & marker.i.ready),
            leaves.eq(
                holds & ~must_hold & may_send & (marker.i.ready | ~is_told)
                & (start.o_found | ~is_start)
            ),
            packet.i.valid.eq(leaves | asks),
            marker.i.valid.eq((leaves & is_told) | asks),
            self.i_transaction.ready.eq(~holds | (leaves & ~is_answered)),
            self.o_busy.eq(warps.o_busy),
            self.o_idle.eq(
                ~packet.o.valid & ~marker.o.valid & ~waits & ~holds & ~must_hold & ~is_held
                & ~warps.o_busy
            ),
        ]  # fmt: skip
        with m.If(self.i_transaction.ready):
            m.d.sync += [
                holds.eq(self.i_transaction.valid & self.i_enable),
                transaction.eq(self.i_transaction.payload),
            ]
        is_news = self.i_resume.p.kind != ResumeKind.WARP
        m.d.comb += self.i_resume.ready.eq(~start.o_begins & ~warps.o_busy & (waits | is_news))
        with m.If(leaves & is_answered):
            m.d.sync += waits.eq(1)
        with m.If(self._resumes & self.i_resume.payload.is_last):
            m.d.sync += [waits.eq(0), holds.eq(0)]
        with m.If(asks):
            m.d.sync += is_held.eq(1)
        # Clocks of before an epoch are no use behind it.
        searches = holds & is_start & may_search & ~must_hold & ~epoch
        m.d.comb += [
            may_search.eq(~waits & ~is_held & ~warps.o_busy),
            start.i_search.eq(searches), start.i_begin.eq(leaves),
            start.i_restart.eq(epoch & waits & is_start), start.i_is_held.eq(warps.o_busy),
        ]  # fmt: skip
        self._elaborate_start(m, transaction, warps, start)
        self._elaborate_warps(m, transaction, warps, start, waits, leaves)
        self._elaborate_payloads(
            m, transaction, warps, start, packet.i.payload, marker.i.payload, asks
        )
        return m

    def _elaborate_epoch(
        self, m: Module, is_other: Value, is_held: Signal, warps: Any
    ) -> tuple[Signal, Signal]:
        """Whether something waits for an epoch, if one that is no access waits; and its pulse."""
        resume, kinds = self.i_resume, ResumeKind
        is_full, is_stopped, must_hold, epoch, self._resumes = (
            Signal(name=name) for name in ("is_full", "is_stopped", "must_hold", "epoch", "resumes")
        )
        takes = resume.valid & resume.ready
        m.d.comb += [
            must_hold.eq(is_stopped | (is_other & (is_full | warps.o_full))),
            epoch.eq(takes & (resume.p.kind == kinds.EPOCH)),
            self._resumes.eq(takes & (resume.p.kind == kinds.WARP)),
            warps.i_epoch.eq(epoch),
        ]
        with m.If(self.i_clear | epoch):
            m.d.sync += [is_full.eq(0), is_stopped.eq(0), is_held.eq(0)]
        with m.Elif(takes):
            m.d.sync += [
                is_full.eq(is_full | (resume.p.kind == kinds.FULL)),
                is_stopped.eq(is_stopped | (resume.p.kind == kinds.HOLD)),
            ]
        return must_hold, epoch

    def _elaborate_start(self, m: Module, transaction: Any, warps: Any, start: Any) -> None:
        m.d.comb += [
            start.i_slot.eq(transaction.slot),
            start.i_warps.eq(transaction.warps),
            start.i_clock.eq(warps.o_state.clock),
            start.i_clear.eq(self.i_clear),
            warps.i_clear.eq(self.i_clear),
        ]

    def _elaborate_warps(
        self, m: Module, transaction: Any, warps: Any, start: Any, waits: Value, leaves: Value
    ) -> None:
        """Write what a transaction makes of its warp, what a resume or the start of a block does.

        The warp that is looked up is the one that is written."""
        kind, kinds, resume = transaction.kind, TransactionKind, self.i_resume
        state, after = warps.o_state, warps.i_state
        advances = (kind == kinds.IF) | (kind == kinds.WARP_BARRIER)
        releases = (kind == kinds.FENCE) | (kind == kinds.BEGIN)
        releases &= transaction.order != FenceOrder.ACQUIRE
        is_of_block = (kind == kinds.BLOCK_START) | (kind == kinds.BLOCK_END)
        with m.If(start.o_looks):
            m.d.comb += [
                warps.i_warp.eq(start.o_warp),
                warps.i_write.eq(start.o_write),
                after.clock.eq(start.o_start),
            ]
        with m.Elif(waits):
            m.d.comb += [
                warps.i_warp.eq(resume.payload.warp),
                warps.i_write.eq(self._resumes & ~is_of_block),
                after.eq(state),
                after.clock.eq(resume.payload.clock),
                after.sc.eq(resume.payload.sc),
            ]
        with m.Else():
            m.d.comb += [
                warps.i_warp.eq(transaction.warp),
                warps.i_write.eq(leaves & (advances | releases)),
                after.eq(state),
                after.clock.eq(state.clock + advances),
                after.released.eq(state.released | releases),
                after.released_device.eq(state.released_device | (releases & transaction.device)),
            ]

    def _elaborate_payloads(
        self, m: Module, transaction: Any, warps: Any, start: Any, packet: Any, marker: Any,
        asks: Value,
    ) -> None:  # fmt: skip
        kind, state = transaction.kind, warps.o_state
        is_marked = asks | ((kind > TransactionKind.ATOMIC) & (kind < TransactionKind.IF))
        of_branch = (kind + (PacketKind.IF - TransactionKind.IF))[: len(packet.kind)]
        rest = Mux(kind <= TransactionKind.ATOMIC, kind, of_branch)
        place = {
            "block": Cat(transaction.slot, self.i_sm), "warp": Cat(transaction.warp, self.i_sm)
        }  # fmt: skip
        names = set(transaction.shape().members)
        of_packet = {
            **{name: transaction[name] for name in packet.shape().members if name in names},
            **{name: state[name] for name in ("released", "released_device", "sc")},
            "kind": Mux(is_marked, PacketKind.MARK, rest),
            "clock": warps.i_state.clock,
            **place,
        }
        of_marker = {
            **{name: transaction[name] for name in marker.shape().members if name in names},
            "kind": Mux(asks, HELD, kind),
            "clock": Mux(kind == TransactionKind.BLOCK_START, start.o_start, state.clock),
            **place,
        }
        m.d.comb += [packet[name].eq(value) for name, value in of_packet.items()]
        m.d.comb += [marker[name].eq(value) for name, value in of_marker.items()]
