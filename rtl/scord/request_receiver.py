"""Request receiver: what a slice unit does with the packets of the SM units.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted before what follows it in its warp).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.scord.fence_bundle import bundle_layout, unused_by_fence


class RequestReceiver(wiring.Component):
    """Passes accesses and fences on to the banks, in order, and answers fences and marks.

    A fence is answered when the banks have accepted it, and a mark when the slice holds nothing.
    Marks are always accepted.  Throughput is one request a cycle while responses are accepted.
    ``i_request.ready`` depends on the payload, not on ``valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_request : ``In(stream.Signature(request_layout))``
        Packets of the SM units; ``destination`` is ignored.
    o_packet : ``Out(stream.Signature(segment_layout))``
        Packets for the banks.
    o_response : ``Out(stream.Signature(response_layout))``
        Answers.
    i_idle : ``In(1)``
        All that the banks have accepted is complete.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_request": In(stream.Signature(struct_layout(params.request_layout))),
            "o_packet": Out(stream.Signature(struct_layout(params.segment_layout))),
            "o_response": Out(stream.Signature(struct_layout(params.response_layout))),
            "i_idle": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, request = self._params, self.i_request
        m.submodules.response = response = StreamRegister(struct_layout(params.response_layout))
        wiring.connect(m, response.o, wiring.flipped(self.o_response))
        packet, is_mark = request.payload.segment, request.payload.is_mark
        is_fence, may_go, sm = Signal(), Signal(), Signal(params.sm_bits)
        m.d.comb += [
            is_fence.eq(packet.kind == PacketKind.FENCE),
            sm.eq(packet.block >> params.slot_bits),
            may_go.eq(~is_fence | response.i.ready),
            self.o_packet.payload.eq(packet),
            self.o_packet.valid.eq(request.valid & ~is_mark & may_go),
            request.ready.eq(is_mark | (self.o_packet.ready & may_go)),
        ]
        if params.fence_lanes > 1:
            with m.If(is_fence):
                self._elaborate_lanes(m, sm)
        marked = Signal(params.sm_count)
        turn = Signal(range(params.sm_count))
        answers_mark = self.i_idle & marked.bit_select(turn, 1)
        came = (request.valid & is_mark) << sm
        gone = Signal(params.sm_count)
        with m.If(request.valid & ~is_mark & is_fence):
            m.d.comb += [
                response.i.valid.eq(self.o_packet.ready),
                response.i.payload.destination.eq(sm),
                response.i.payload.warp.eq(packet.warp),
            ]
        with m.Else():
            m.d.comb += [
                response.i.valid.eq(answers_mark),
                response.i.payload.destination.eq(turn),
                response.i.payload.is_mark.eq(1),
                gone.eq((answers_mark & response.i.ready) << turn),
            ]
        m.d.sync += [
            marked.eq((marked & ~gone) | came),
            turn.eq(Mux(turn == params.sm_count - 1, 0, turn + 1)),
        ]
        return m

    def _elaborate_lanes(self, m: Module, sm: Signal) -> None:
        """Put a single fence into its lane of a bundle."""
        params, packet = self._params, self.i_request.payload.segment
        rest = unused_by_fence(self.o_packet.payload)
        bundle = Signal(bundle_layout(params))
        lane = sm[: params.fence_lane_bits]
        m.d.comb += [
            bundle.present.eq(1 << lane),
            rest[: len(bundle.as_value())].eq(bundle),
            *(
                place[name].eq(packet[name])
                for place in bundle.others
                for name in params.fence_layout.fields
            ),
        ]
