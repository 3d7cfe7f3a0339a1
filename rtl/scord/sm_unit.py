"""SM unit: the tile of an SM, from transactions to requests for the slices.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Array, Const, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.launch_control import TransactionGate
from racetrap.rtl.gpu.tile_launch import clear_by_level
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.request_sender import RequestSender
from racetrap.rtl.scord.tracker import Tracker


class SmUnit(wiring.Component):
    """Gate, access buffer, tracker and request sender.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_sm : ``In(sm_bits)``
        Number of the SM, a constant.
    i_transaction : ``In(stream.Signature(transaction_layout))``
        What the SM does.
    o_fencing : ``Out(warps_per_sm)``
        Warps with a fence in flight.
    o_left_out, o_left_out_words : ``Out(1)``, ``Out(range(33))``
        The transaction taken in this cycle is not checked; its words, for the counter, in the
        cycle after.  Absent if the policy skips nothing.
    o_request, i_response : ``Out(stream.Signature(request_layout))``, ``In(...response_layout)``
        Packets for the slice units, and their answers.
    i_enable : ``In(1)``
        Low: transactions are taken and ignored.
    i_hold, o_drained : ``In(1)``, ``Out(1)``
        Let no transaction in; none is let in, and all that was sent is complete.
    i_clear, o_cleared : ``In(1)``, ``Out(1)``
        Forget the previous launch, as of ``TileClear``.
    o_quiet : ``Out(1)``
        Nothing is in the tile, and no fence in flight.
    i_ask, o_idle : ``In(1)``, ``Out(1)``
        Find out whether all that was sent is complete; it is.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        left_out = {"o_left_out": Out(1), "o_left_out_words": Out(range(WORDS_PER_LINE + 1))}
        super().__init__({
            "i_sm": In(params.sm_bits),
            "i_transaction": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o_fencing": Out(params.warps_per_sm),
            **(left_out if params.leaves_out else {}),
            "o_request": Out(stream.Signature(struct_layout(params.request_layout))),
            "i_response": In(stream.Signature(struct_layout(params.response_layout))),
            "i_enable": In(1),
            "i_hold": In(1),
            "o_drained": Out(1),
            "i_clear": In(1),
            "o_cleared": Out(1),
            "o_quiet": Out(1),
            "i_ask": In(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.gate = gate = TransactionGate(params)
        m.submodules.tracker = tracker = Tracker(params)
        m.submodules.sender = sender = RequestSender(params)
        clear_by_level(m, self, tracker)
        wiring.connect(m, wiring.flipped(self.i_transaction), gate.i)
        wiring.connect(m, tracker.o_packet, sender.i_packet)
        wiring.connect(m, sender.o_request, wiring.flipped(self.o_request))
        wiring.connect(m, wiring.flipped(self.i_response), sender.i_response)
        masks = Array(block_masks_of(params, sm) for sm in range(params.sm_count))
        m.d.comb += [
            gate.i_hold.eq(self.i_hold),
            tracker.i_sm.eq(self.i_sm),
            tracker.i_block_masks.eq(masks[self.i_sm]),
            tracker.i_enable.eq(self.i_enable),
            tracker.i_fenced.eq(sender.o_fenced),
            sender.i_sm.eq(self.i_sm),
            sender.i_quiet.eq(self.o_quiet),
            sender.i_ask.eq(self.i_ask),
            self.o_idle.eq(sender.o_idle),
            self.o_drained.eq(gate.o_closed & sender.o_idle),
        ]
        fencing, is_empty = self._elaborate_buffer(m, gate, tracker)
        m.d.comb += [
            self.o_fencing.eq(tracker.o_fencing | fencing),
            self.o_quiet.eq(tracker.o_idle & is_empty),
        ]
        return m

    def _elaborate_buffer(self, m: Module, gate: TransactionGate, tracker: Tracker):
        """Access buffer, if there is one; which warps have a fence in it, and whether it is
        empty."""
        params = self._params
        if not params.access_buffer_depth:
            wiring.connect(m, gate.o, tracker.i_transaction)
            return Const(0), Const(1)
        m.submodules.access_buffer = buffer = AccessBuffer(params)
        wiring.connect(m, gate.o, buffer.i)
        wiring.connect(m, buffer.o, tracker.i_transaction)
        m.d.comb += buffer.i_enable.eq(self.i_enable)
        if params.leaves_out:
            m.d.comb += [
                self.o_left_out.eq(buffer.o_left_out),
                self.o_left_out_words.eq(buffer.o_count),
            ]
        return buffer.o_fencing, buffer.o_idle
