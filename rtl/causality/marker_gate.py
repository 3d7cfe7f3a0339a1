"""Marker gate: what the collector takes next, a notice of a bank or a marker of an SM.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted behind what came before it).
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import HELD, PacketKind, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout


class MarkerGate(wiring.Component):
    """Merges the notices of all banks, and holds each marker until all banks have come to it.

    Notices of one bank stay in order, and so do markers of one SM.  A branch or a warp barrier
    waits for no bank.  Latency is one cycle.

    When each SM has a marker that waits here and all banks have come to it, nothing of any SM is in
    flight: an epoch may begin.  Markers that wait then are of before it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_notice : ``In(stream.Signature(notice_layout)).array(banks)``
        Notices of each bank.
    i_marker : ``In(stream.Signature(marker_layout)).array(sm_count)``
        Markers of each SM.
    i_hold : ``In(1)``
        Let no further marker pass that waits for banks.
    i_epoch : ``In(1)``
        Pulse, while ``o_drained``: an epoch begins.  Markers of SMs that are held end here.
    o_asks : ``Out(1)``
        A marker that waits for banks is there.
    o_drained : ``Out(1)``
        Each SM has one, and nothing else is in flight.
    o_notice : ``Out(stream.Signature({bank, notice}))``
        Notices but those of markers' places, and the bank of each.
    o_marker : ``Out(stream.Signature({sm, marker}))``
        Markers whose places all banks have passed, and the SM of each.
    o_idle : ``Out(1)``
        Nothing is held here.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        notice, marker = struct_layout(params.notice_layout), struct_layout(params.marker_layout)
        self._notice = data.StructLayout({"bank": range(max(params.banks, 2)), "notice": notice})
        self._marker = data.StructLayout({"sm": params.sm_bits, "marker": marker})
        super().__init__({
            "i_notice": In(stream.Signature(notice)).array(params.banks),
            "i_marker": In(stream.Signature(marker)).array(params.sm_count),
            "i_hold": In(1),
            "i_epoch": In(1),
            "o_asks": Out(1),
            "o_drained": Out(1),
            "o_notice": Out(stream.Signature(self._notice)),
            "o_marker": Out(stream.Signature(self._marker)),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.notices = notices = StreamArbiter(self._notice, params.banks)
        m.submodules.markers = markers = StreamArbiter(self._marker, params.sm_count)
        wiring.connect(m, markers.o, wiring.flipped(self.o_marker))
        for bank, (outer, inner) in enumerate(zip(self.i_notice, notices.i, strict=True)):
            m.d.comb += [
                inner.payload.notice.eq(outer.payload), inner.payload.bank.eq(bank),
                inner.valid.eq(outer.valid), outer.ready.eq(inner.ready),
            ]  # fmt: skip
        first, is_mark = notices.o.payload.notice.packet, Signal()
        m.d.comb += [
            is_mark.eq(first.kind == PacketKind.MARK),
            self.o_notice.payload.eq(notices.o.payload),
            self.o_notice.valid.eq(notices.o.valid & ~is_mark),
            notices.o.ready.eq(self.o_notice.ready | is_mark),
            self.o_idle.eq(~notices.o.valid & ~markers.o.valid),
        ]
        waiting, drained = Signal(params.sm_count), Signal(params.sm_count)
        for sm, (outer, inner) in enumerate(zip(self.i_marker, markers.i, strict=True)):
            passed = Signal(range(params.banks + 1), name=f"passed_{sm}")
            waits, may_go, has_passed = (
                Signal(name=f"{name}_{sm}") for name in ("waits", "may_go", "has_passed")
            )
            is_held, is_old = outer.payload.kind == HELD, Signal(name=f"is_old_{sm}")
            m.d.comb += [
                waits.eq(
                    (outer.payload.kind != TransactionKind.IF)
                    & (outer.payload.kind != TransactionKind.WARP_BARRIER)
                ),
                waiting[sm].eq(outer.valid & waits),
                has_passed.eq(passed == params.banks),
                drained[sm].eq(waiting[sm] & has_passed),
                may_go.eq(~waits | (has_passed & ~is_held & ~self.i_hold)),
                inner.payload.marker.eq(outer.payload), inner.payload.sm.eq(sm),
                inner.valid.eq(outer.valid & may_go),
                outer.ready.eq((inner.ready & may_go) | (is_held & self.i_epoch)),
            ]  # fmt: skip
            with m.If(is_old):
                # Its clock counts if a block starts: all clocks before are 1.
                m.d.comb += inner.payload.marker.clock.eq(2)
            is_mine = (first.block >> params.slot_bits) == sm
            with m.If(notices.o.valid & is_mark & is_mine):
                m.d.sync += passed.eq(passed + 1)
            with m.If(outer.valid & outer.ready & waits):
                m.d.sync += [passed.eq(0), is_old.eq(0)]
            with m.Elif(self.i_epoch):
                m.d.sync += is_old.eq(1)
        m.d.comb += [
            self.o_asks.eq(waiting.any()),
            self.o_drained.eq(drained.all() & self.o_idle),
        ]
        return m
