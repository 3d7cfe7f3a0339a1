"""Intersection unit: the signatures of two blocks that have addresses in common.

Ref: SigRace (ISCA'09) Sections 2.3 and 3.2, Fig. 5(a).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Conflict
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout


def intersections(message, entry) -> dict[Conflict, Value]:
    """The three ANDs of a message's and an entry's signatures; the message's is named first."""
    return {
        Conflict.READ_WRITE: message.read & entry.write,
        Conflict.WRITE_READ: message.write & entry.read,
        Conflict.WRITE_WRITE: message.write & entry.write,
    }


class Intersection(wiring.Component):
    """Intersects the signatures of a message and an entry, and tests the ANDs for null.

    An AND is null if any of its filters has no bit.  Latency is one cycle, throughput one pair
    a cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_message, i_entry : ``In(history_layout)``
        The blocks; their timestamps are ignored.
    o_conflict : ``Out(3)``
        ``Conflict``: the ANDs that are not null, a cycle later.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        block = struct_layout(params.history_layout)
        super().__init__({"i_message": In(block), "i_entry": In(block), "o_conflict": Out(3)})

    def elaborate(self, platform):
        m = Module()
        for kind, both in intersections(self.i_message, self.i_entry).items():
            has_bit = Signal(len(self._params.sub_filters), name=f"{kind.name}_has_bit".lower())
            m.d.sync += has_bit.eq(
                Cat(
                    both[one.offset : one.offset + one.bits].any()
                    for one in self._params.sub_filters
                )
            )
            m.d.comb += self.o_conflict[kind.bit_length() - 1].eq(has_bit.all())
        return m
