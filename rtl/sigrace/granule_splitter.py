"""Granule splitter: from accesses to the granules that they touch.

Ref: SigRace (ISCA'09) Section 4.1 ("a good choice is to use word addresses").
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.layouts import item_layout


class GranuleSplitter(wiring.Component):
    """Outputs the granules of an access in ascending order, and other events unchanged.

    Addresses wrap.  The first item follows one cycle after its event; then comes
    one each cycle, also across events.  ``i.ready`` does not depend on ``i.valid``.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(event_layout))``
        Events of the core.
    o : ``Out(stream.Signature(item_layout(params)))``
        Granules, and events without any.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.event_layout))),
            "o": Out(stream.Signature(item_layout(params))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        event, item = self.i.payload, self.o.payload
        is_access = (event.op == CoreOp.LOAD) | (event.op == CoreOp.STORE)
        # The first and the last granule may be touched in part.
        round_up = (1 << GRANULE_LOG2) - 1
        touched = (event.data[:GRANULE_LOG2] + event.size + round_up) >> GRANULE_LOG2
        remaining = Signal(len(touched))  # granules, including the one at the output
        m.d.comb += [
            item.has_granule.eq(remaining.any()),
            item.is_last.eq(remaining <= 1),
            self.i.ready.eq(~self.o.valid | (self.o.ready & item.is_last)),
        ]
        with m.If(self.i.ready):
            m.d.sync += [self.o.valid.eq(self.i.valid), item.is_first.eq(1)]
            with m.If(self.i.valid):
                m.d.sync += [
                    item.event.eq(event),
                    item.granule.eq(event.data[GRANULE_LOG2:]),
                    remaining.eq(Mux(is_access, touched, 0)),
                ]
        with m.Elif(self.o.ready):
            m.d.sync += [
                item.granule.eq(item.granule + 1),
                remaining.eq(remaining - 1),
                item.is_first.eq(0),
            ]
        return m
