"""Comparator of the timestamps of two blocks.

Ref: SigRace (ISCA'09) Sections 2.1 and 3.2, Fig. 5(a).
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Relation
from racetrap.golden_model.sigrace.params import SigraceParams


class TimestampComparator(wiring.Component):
    """Decides whether one block happened before the other.

    One counter decides each order: the counter of the earlier block's own thread must be strictly
    smaller in the earlier block.  Latency is one cycle, throughput one comparison a cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_message, i_entry : ``In(timestamp_width)``
        Timestamps of the message and of an entry of a queue.
    i_thread, i_other : ``In(range(threads))``
        Threads of the message and of the entry.
    o_relation : ``Out(2)``
        ``Relation``, a cycle later.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_message": In(params.timestamp_width),
            "i_entry": In(params.timestamp_width),
            "i_thread": In(range(params.threads)),
            "i_other": In(range(params.threads)),
            "o_relation": Out(2, init=Relation.UNORDERED),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bits = self._params.timestamp_bits

        def selected(timestamp: Signal, thread: Signal, name: str) -> Signal:
            counter = Signal(bits, name=name)
            m.d.sync += counter.eq(timestamp.word_select(thread, bits))
            return counter

        message_own = selected(self.i_message, self.i_thread, "message_own")
        message_other = selected(self.i_message, self.i_other, "message_other")
        entry_own = selected(self.i_entry, self.i_thread, "entry_own")
        entry_other = selected(self.i_entry, self.i_other, "entry_other")
        with m.If(entry_other < message_other):
            m.d.comb += self.o_relation.eq(Relation.PRECEDES)
        with m.Elif(message_own < entry_own):
            m.d.comb += self.o_relation.eq(Relation.FOLLOWS)
        with m.Else():
            m.d.comb += self.o_relation.eq(Relation.UNORDERED)
        return m
