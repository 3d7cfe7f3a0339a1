"""How a tile forgets a kernel: a level from afar becomes a pulse, and its end a level."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TileClear(wiring.Component):
    """Four-phase handshake around a part that is cleared by a pulse.

    Both levels may be registered on their way any number of times.

    Members
    -------
    i_level, o_done : ``In(1)``, ``Out(1)``
        Clear; the part is clear.  ``o_done`` falls after ``i_level``.
    o_clear : ``Out(1)``
        Pulse for the part.
    i_busy : ``In(1)``
        The part is clearing; expected from the second cycle after ``o_clear`` on.
    """

    def __init__(self):
        super().__init__({"i_level": In(1), "o_done": Out(1), "o_clear": Out(1), "i_busy": In(1)})

    def elaborate(self, platform):
        m = Module()
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.i_level):
                    m.d.comb += self.o_clear.eq(1)
                    m.next = "START"
            with m.State("START"):
                m.next = "WAIT"
            with m.State("WAIT"):
                with m.If(~self.i_busy):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.o_done.eq(1)
                with m.If(~self.i_level):
                    m.next = "IDLE"
        return m
