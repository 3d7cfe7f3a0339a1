"""Wrap control: begins an epoch, in which all accesses so far count as ordered.

Ref: ScoRD (ISCA'20) Section VI; counters there are taken never to wrap.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class WrapControl(wiring.Component):
    """Holds all trackers until what they have sent is done, and then begins an epoch everywhere.

    While it holds them no marker is in flight, so no part receives a clock of before the epoch
    after it.  Transactions that wait in a tracker are sent with clocks of the new epoch.

    Members
    -------
    i_wrap : ``In(1)``
        A tracker waits for an epoch.
    i_drained : ``In(1)``
        No packet, marker, notice or row is in flight; expected in the cycle after ``o_hold``.
    i_busy : ``In(1)``
        Some part is still clearing; expected from the second cycle after ``o_epoch`` on.
    o_hold : ``Out(1)``
        Trackers must send nothing.
    o_epoch : ``Out(1)``
        Pulse: begin an epoch.
    """

    def __init__(self):
        super().__init__({
            "i_wrap": In(1),
            "i_drained": In(1),
            "i_busy": In(1),
            "o_hold": Out(1),
            "o_epoch": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o_hold.eq(1)
        with m.FSM():
            with m.State("READY"):
                m.d.comb += self.o_hold.eq(0)
                with m.If(self.i_wrap):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(self.i_drained):
                    m.next = "EPOCH"
            with m.State("EPOCH"):
                m.d.comb += self.o_epoch.eq(1)
                m.next = "START"
            with m.State("START"):
                m.next = "WAIT"
            with m.State("WAIT"):
                with m.If(~self.i_busy):
                    m.next = "READY"
        return m
