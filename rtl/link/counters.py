"""Counters of what happened on the line, for people who look for a bad cable."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import Counters

_COUNTER_BITS = 16


class LinkCounters(wiring.Component):
    """Counts events; each counter stops at its largest value.

    A count changes in the cycle after its event.

    Members
    -------
    i_<name> : ``In(1)``
        One event, for each name of ``Counters``.
    i_byte : ``In(4)``
        Number of a byte of all counters, each two bytes, lower one first.
    o_data : ``Out(8)``
        That byte, in the same cycle.
    """

    def __init__(self):
        super().__init__(
            {f"i_{name}": In(1) for name in Counters._fields}
            | {"i_byte": In(range(2 * len(Counters._fields))), "o_data": Out(8)}
        )

    def elaborate(self, platform):
        m = Module()
        counts = [Signal(_COUNTER_BITS, name=name) for name in Counters._fields]
        for count in counts:
            with m.If(getattr(self, f"i_{count.name}") & ~count.all()):
                m.d.sync += count.eq(count + 1)
        m.d.comb += self.o_data.eq(Cat(counts).word_select(self.i_byte, 8))
        return m
