"""Marker gate: what the collector takes next, a notice of a bank or a marker of an SM.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted behind what came before it).
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout


class MarkerGate(wiring.Component):
    """Merges the notices of all banks, and holds each marker until all banks have come to it.

    Notices of one bank stay in order, and so do markers of one SM.  A branch or a warp barrier
    waits for no bank.  Latency is one cycle.

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
        for sm, (outer, inner) in enumerate(zip(self.i_marker, markers.i, strict=True)):
            passed = Signal(range(params.banks + 1), name=f"passed_{sm}")
            waits, may_go = Signal(name=f"waits_{sm}"), Signal(name=f"may_go_{sm}")
            m.d.comb += [
                waits.eq(
                    (outer.payload.kind != TransactionKind.IF)
                    & (outer.payload.kind != TransactionKind.WARP_BARRIER)
                ),
                may_go.eq(~waits | (passed == params.banks)),
                inner.payload.marker.eq(outer.payload), inner.payload.sm.eq(sm),
                inner.valid.eq(outer.valid & may_go), outer.ready.eq(inner.ready & may_go),
            ]  # fmt: skip
            is_mine = (first.block >> params.slot_bits) == sm
            with m.If(notices.o.valid & is_mark & is_mine):
                m.d.sync += passed.eq(passed + 1)
            with m.If(outer.valid & outer.ready & waits):
                m.d.sync += passed.eq(0)
        return m
