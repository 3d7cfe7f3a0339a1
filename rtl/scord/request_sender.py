"""Request sender: what an SM sends to the slices, and their responses.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted before what follows it in its warp).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.scord.interleaver import port_number


class RequestSender(wiring.Component):
    """Sends each access to its slice, and each fence and mark to all slices.

    A fence leaves the tracker at once, after all earlier accesses; its copies go out one a cycle,
    in turn with accesses.  There is a place for a fence of each warp, which has at most one in
    flight.  A fence is complete when every slice has answered.

    Marks find out whether all that was sent is complete.  They go out on demand, if the tracker is
    empty and something was sent since the last ones; one set of marks is in flight at a time.
    ``i_response`` is always ready.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_sm : ``In(sm_bits)``
        Number of the SM, a constant.
    i_packet : ``In(stream.Signature(segment_layout))``
        Packets of the tracker.
    o_request : ``Out(stream.Signature(request_layout))``
        Packets for the slices.
    i_response : ``In(stream.Signature(response_layout))``
        Their answers.
    o_fenced : ``Out(warps_per_sm)``
        Pulse for each warp: every slice has its fence.
    i_quiet : ``In(1)``
        The tracker is empty: neither packet nor fence is there or in flight.
    i_ask : ``In(1)``
        Send marks.
    o_idle : ``Out(1)``
        All that was sent is complete.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_sm": In(params.sm_bits),
            "i_packet": In(stream.Signature(struct_layout(params.segment_layout))),
            "o_request": Out(stream.Signature(struct_layout(params.request_layout))),
            "i_response": In(stream.Signature(struct_layout(params.response_layout))),
            "o_fenced": Out(params.warps_per_sm),
            "i_quiet": In(1),
            "i_ask": In(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.merge = merge = StreamArbiter(struct_layout(params.request_layout), 2)
        m.submodules.fences = fences = StreamFifo(
            struct_layout(params.fence_layout), params.warps_per_sm
        )
        wiring.connect(m, merge.o, wiring.flipped(self.o_request))
        accesses, copies = merge.i
        packet, is_fence = self.i_packet.payload, Signal()
        m.d.comb += [
            is_fence.eq(packet.kind == PacketKind.FENCE),
            accesses.payload.destination.eq(port_number(params, packet)),
            accesses.payload.segment.eq(packet),
            accesses.valid.eq(self.i_packet.valid & ~is_fence),
            fences.i.valid.eq(self.i_packet.valid & is_fence),
            self.i_packet.ready.eq(Mux(is_fence, fences.i.ready, accesses.ready)),
        ]
        m.d.comb += [fences.i.payload[name].eq(packet[name]) for name in params.fence_layout.fields]
        is_marking = self._elaborate_marks(m, copies)
        self._elaborate_copies(m, fences, copies, is_marking)
        self._elaborate_fenced(m)
        return m

    def _elaborate_copies(self, m: Module, fences: Any, copies: Any, is_marking: Signal) -> None:
        """A copy of a fence, or a mark, for one slice after the other."""
        params, segment = self._params, copies.payload.segment
        destination = Signal(range(params.metadata_ports), name="destination")
        self._last = destination == params.metadata_ports - 1
        taken = copies.valid & copies.ready
        m.d.comb += [
            copies.valid.eq(fences.o.valid | is_marking),
            copies.payload.destination.eq(destination),
            copies.payload.is_mark.eq(is_marking),
            segment.kind.eq(PacketKind.FENCE),
            *(segment[name].eq(fences.o.payload[name]) for name in params.fence_layout.fields),
            fences.o.ready.eq(taken & self._last & ~is_marking),
        ]
        with m.If(is_marking):
            m.d.comb += segment.block.eq(self.i_sm << params.slot_bits)
        with m.If(taken):
            m.d.sync += destination.eq(Mux(self._last, 0, destination + 1))
            with m.If(self._last):
                m.d.sync += is_marking.eq(0)

    def _elaborate_marks(self, m: Module, copies: Any) -> Signal:
        """Whether marks are being sent."""
        is_marking, is_asking, is_complete, is_stale = (
            Signal(name=name, init=name == "is_complete")
            for name in ("is_marking", "is_asking", "is_complete", "is_stale")
        )
        answers = Signal(range(self._params.metadata_ports), name="answers")
        answer = self.i_response.valid & self.i_response.payload.is_mark
        is_last = answers == self._params.metadata_ports - 1
        m.d.comb += self.o_idle.eq(self.i_quiet & is_complete)
        with m.If(self.i_ask & self.i_quiet & ~is_complete & ~is_asking):
            m.d.sync += [is_marking.eq(1), is_asking.eq(1), is_stale.eq(0)]
        with m.If(answer):
            m.d.sync += answers.eq(Mux(is_last, 0, answers + 1))
            with m.If(is_last):
                m.d.sync += [is_asking.eq(0), is_complete.eq(~is_stale)]
        with m.If(self.i_packet.valid & self.i_packet.ready):
            m.d.sync += [is_complete.eq(0), is_stale.eq(1)]
        return is_marking

    def _elaborate_fenced(self, m: Module) -> None:
        """Count the answers of each warp's fence."""
        params, response = self._params, self.i_response
        last = params.metadata_ports - 1
        counts = Array(
            Signal(range(params.metadata_ports), name=f"answers_{warp}")
            for warp in range(params.warps_per_sm)
        )
        count = Signal(range(params.metadata_ports), name="answers_of_warp")
        takes = response.valid & ~response.payload.is_mark
        m.d.comb += [
            response.ready.eq(1),
            count.eq(counts[response.payload.warp]),
            self.o_fenced.eq((takes & (count == last)) << response.payload.warp),
        ]
        with m.If(takes):
            m.d.sync += counts[response.payload.warp].eq(Mux(count == last, 0, count + 1))
