"""Status lights of a board."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

#: Lights from bit 0 on.
LIGHTS = ("link up", "busy", "race seen", "error")


class StatusLights(wiring.Component):
    """Levels for the lights from the pulses of a device.

    Latency is one cycle.

    Parameters
    ----------
    stretch_bits : int
        The busy light stays on for 2 ** ``stretch_bits`` - 1 cycles from the last busy one, to be
        visible.

    Members
    -------
    i_link_up : ``In(1)``
        A host has said hello.
    i_busy, i_race, i_error : ``In(1)``
        A transfer is in progress; a race was reported; the link dropped or refused something.
    o_lights : ``Out(4)``
        Link up, busy, race seen and error; the last two stay lit until reset.
    """

    def __init__(self, stretch_bits: int = 21):
        self._stretch_bits = stretch_bits
        super().__init__({
            "i_link_up": In(1),
            "i_busy": In(1),
            "i_race": In(1),
            "i_error": In(1),
            "o_lights": Out(len(LIGHTS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        left = Signal(self._stretch_bits)
        race, error, link_up = Signal(), Signal(), Signal()
        with m.If(self.i_busy):
            m.d.sync += left.eq(~0)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        m.d.sync += [
            link_up.eq(self.i_link_up),
            race.eq(race | self.i_race),
            error.eq(error | self.i_error),
        ]
        m.d.comb += self.o_lights.eq(Cat(link_up, left != 0, race, error))
        return m
