"""Bit packer: from fields of any width to the flits of a message.

Ref: SigRace (ISCA'09) Section 4.2 (compressed signatures travel over the network).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.fields import Field


class BitPacker(wiring.Component):
    """Puts fields side by side, least significant bit first.

    The field marked ``last`` ends a message: its last flit is filled with zeros.  A flit leaves
    one cycle after the field that completes it; throughput is one field a cycle, and one cycle
    more if the bits of a last field go into two flits.  ``i.ready`` follows ``o.ready`` and does
    not depend on ``i.valid``.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(Field))``
        Fields of at most one flit; the bits above a field's width are 0.
    o : ``Out(stream.Signature(flit_layout))``
        Flits.
    o_is_empty : ``Out(1)``
        No bit is held here.
    """

    def __init__(self, params: SigraceParams):
        super().__init__({
            "i": In(stream.Signature(Field)),
            "o": Out(stream.Signature(struct_layout(params.flit_layout))),
            "o_is_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        field, flit = self.i.payload, self.o.payload
        rest = Signal(FLIT_BITS)  # bits that do not fill a flit, zeros above
        filled = Signal(range(FLIT_BITS))
        is_flushing = Signal()  # the rest is the end of a message
        total = Signal(range(2 * FLIT_BITS))
        merged = Signal(2 * FLIT_BITS)
        can_send = ~self.o.valid | self.o.ready
        m.d.comb += [
            total.eq(filled + field.width),
            merged.eq(rest | (field.data << filled)),
            self.i.ready.eq(can_send & ~is_flushing),
            self.o_is_empty.eq(~self.o.valid & ~filled.any() & ~is_flushing),
        ]
        is_complete = total >= FLIT_BITS
        with m.If(can_send):
            m.d.sync += self.o.valid.eq(0)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [
                self.o.valid.eq(is_complete | field.last),
                flit.data.eq(merged),
                flit.last.eq(field.last & (total <= FLIT_BITS)),
                is_flushing.eq(field.last & (total > FLIT_BITS)),
                rest.eq(Mux(is_complete, merged[FLIT_BITS:], merged)),
                filled.eq(total),
            ]
            with m.If(field.last & (total <= FLIT_BITS)):
                m.d.sync += [rest.eq(0), filled.eq(0)]
        with m.If(can_send & is_flushing):
            m.d.sync += [
                self.o.valid.eq(1),
                flit.data.eq(rest),
                flit.last.eq(1),
                is_flushing.eq(0),
                rest.eq(0),
                filled.eq(0),
            ]
        return m
