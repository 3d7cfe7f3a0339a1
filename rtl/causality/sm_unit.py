"""SM unit: the tile of an SM, from transactions to packets and markers.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.tracker import Tracker
from racetrap.rtl.common.ports import ports_like
from racetrap.rtl.gpu.launch_control import TransactionGate
from racetrap.rtl.gpu.tile_launch import clear_by_level, send_at_most

#: Packets, and markers, that may be on their way to the middle.
_MOST = 63


class SmUnit(wiring.Component):
    """Gate and tracker, and the packets and markers that have not arrived in the middle.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_sm, i_transaction, o_packet, o_marker, i_resume
        As those of ``Tracker``.
    i_packet_arrived, i_marker_arrived : ``In(1)``
        Pulse: the middle has taken one.
    o_resumed : ``Out(1)``
        Pulse: a resume has been taken.
    i_enable : ``In(1)``
        Low: transactions are taken and ignored.
    i_hold, o_drained : ``In(1)``, ``Out(1)``
        Let no transaction in; none is let in, and all that was sent has arrived.
    i_clear, o_cleared : ``In(1)``, ``Out(1)``
        Forget the previous launch, as of ``TileClear``.
    o_idle : ``Out(1)``
        Nothing is in the tile, and all that was sent has arrived.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        self._tracker = tracker = Tracker(params)
        super().__init__({
            **ports_like(tracker, "i_sm", "i_transaction", "o_packet", "o_marker", "i_resume"),
            "i_packet_arrived": In(1),
            "i_marker_arrived": In(1),
            "o_resumed": Out(1),
            "i_enable": In(1),
            "i_hold": In(1),
            "o_drained": Out(1),
            "i_clear": In(1),
            "o_cleared": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.gate = gate = TransactionGate(self._params)
        m.submodules.tracker = tracker = self._tracker
        clear_by_level(m, self, tracker)
        wiring.connect(m, wiring.flipped(self.i_transaction), gate.i)
        wiring.connect(m, gate.o, tracker.i_transaction)
        wiring.connect(m, wiring.flipped(self.i_resume), tracker.i_resume)
        packets, markers = (
            send_at_most(m, _MOST, source, sink, arrived)
            for source, sink, arrived in (
                (tracker.o_packet, self.o_packet, self.i_packet_arrived),
                (tracker.o_marker, self.o_marker, self.i_marker_arrived),
            )
        )
        m.d.comb += [
            gate.i_hold.eq(self.i_hold),
            tracker.i_sm.eq(self.i_sm),
            tracker.i_enable.eq(self.i_enable),
            self.o_resumed.eq(self.i_resume.valid & self.i_resume.ready),
            self.o_idle.eq(tracker.o_idle & ~packets.any() & ~markers.any()),
            self.o_drained.eq(gate.o_closed & self.o_idle),
        ]
        return m
